"""Renew what is generated in the documents, and the blocks that translations share with their originals:
python -m tests.documents
"""

from __future__ import annotations

from tests.documents.generated import GENERATED, renewed
from tests.documents.pages import ROOT, page_at, pages, with_blocks_of


def main() -> None:
    for (name, block), made in GENERATED.items():
        page = page_at(ROOT / name)
        page.path.write_bytes(renewed(page.text, block, made()).encode())
    for page in pages():
        if page.original is not None:
            text = with_blocks_of(page.text, page_at(page.original).text)
            page.path.write_bytes(text.encode())


if __name__ == "__main__":
    main()
