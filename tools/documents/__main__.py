"""Renew the manual page, what is generated in the documents, and the blocks that translations share.

python -m tools.documents
"""

from __future__ import annotations

from tools.documents import manpage
from tools.documents.generated import GENERATED, renewed
from tools.documents.pages import ROOT, page_at, pages, with_blocks_of


def main() -> None:
    manpage.write()
    for (name, block), made in GENERATED.items():
        page = page_at(ROOT / name)
        page.path.write_bytes(renewed(page.text, block, made()).encode())
    for page in pages():
        if page.original is not None:
            text = with_blocks_of(page.text, page_at(page.original).text)
            page.path.write_bytes(text.encode())


if __name__ == "__main__":
    main()
