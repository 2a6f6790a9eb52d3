"""One file of named arrays, with a JSON document before them that says what they are.

A header of 32 bytes, the document, then the arrays as they are in memory, each at a multiple of 64 bytes.
Knows bytes and arrays, nothing of traces.

Reading copies all of it (150 MB: 15 ms) instead of mapping it: a page that cannot be read any more, because
the file was cut or removed on another host, would kill the process. The copy is checked as a whole
(CRC-32, 22 ms of 150 MB), so that a disk that has lost a block cannot change a number.
"""

from __future__ import annotations

import io
import json
import os
import struct
import zlib
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

Arrays = dict[str, NDArray[Any]]

FORMAT = 1  #: of the header and the document
_MAGIC = b"tracetui"
_HEADER = struct.Struct("<8sIIQQ")  # magic, format, CRC of the document, its bytes, bytes of the file
_ALIGNED = 64
_DTYPES = ("<i8", "<i4", "<i2", "|i1", "|u1", "<f8")
_LONGEST = 1 << 28  # bytes of a document


def pack(document: Mapping[str, Any], arrays: Arrays) -> list[memoryview]:
    """Return the pieces of a file, to be written one after the other. The arrays are one-dimensional."""
    places, offset = [], 0
    for name, array in arrays.items():
        assert array.ndim == 1 and array.dtype.str in _DTYPES, f"{name}: {array.dtype}[{array.shape}]"
        places.append([name, array.dtype.str, offset, len(array), zlib.crc32(_bytes(array))])
        offset = _aligned(offset + array.nbytes)
    text = json.dumps({**document, "arrays": places}).encode("ascii")
    start = _aligned(_HEADER.size + len(text))
    header = _HEADER.pack(_MAGIC, FORMAT, zlib.crc32(text), len(text), start + offset)
    pieces = [memoryview((header + text).ljust(start, b"\0"))]
    for array in arrays.values():
        pieces.append(_bytes(array))
        pieces.append(memoryview(bytes(_aligned(array.nbytes) - array.nbytes)))
    return pieces


def read_document(descriptor: int) -> dict[str, Any]:
    """Return the document of a file. Raises ValueError where it is not whole, and OSError."""
    magic, form, crc, length, size = _HEADER.unpack(_pread(descriptor, _HEADER.size, 0))
    if magic != _MAGIC or form != FORMAT:
        raise ValueError("of another format")
    if os.fstat(descriptor).st_size != size or length > min(size, _LONGEST):
        raise ValueError("of another length")
    text = _pread(descriptor, length, _HEADER.size)
    if zlib.crc32(text) != crc:
        raise ValueError("damaged document")
    document = json.loads(text)
    if not isinstance(document, dict):
        raise ValueError("no document")
    start = _aligned(_HEADER.size + length)
    document["arrays"] = _check_places(document.get("arrays"), start, size)
    return document


def read_arrays(descriptor: int, document: Mapping[str, Any]) -> Arrays:
    """Return the arrays of a file whose document is read, not writeable. Raises ValueError, and OSError."""
    places = document["arrays"]
    if not places:
        return {}
    first, size = places[0][2], os.fstat(descriptor).st_size
    buffer = np.empty(size - first, np.uint8)
    with io.FileIO(descriptor, closefd=False) as file:
        file.seek(first)
        view, filled = buffer.data, 0
        while filled < len(view):
            got = file.readinto(view[filled:])
            if not got:
                raise ValueError("the file is cut")
            filled += got
    buffer.flags.writeable = False
    arrays: Arrays = {}
    for name, kind, offset, length, crc in places:
        dtype = np.dtype(kind)
        part = buffer[offset - first : offset - first + length * dtype.itemsize]
        if zlib.crc32(part.data) != crc:
            raise ValueError(f"damaged column {name}")
        arrays[name] = part.view(dtype)
    return arrays


def _check_places(places: Any, start: int, size: int) -> list[tuple[str, str, int, int, int]]:
    """Return where the arrays are in the file, one after the other and filling it."""
    if not isinstance(places, list):
        raise ValueError("no arrays")
    entries, position = [], start
    for name, kind, offset, length, crc in places:
        if kind not in _DTYPES or start + offset != position or not 0 <= length <= size:
            raise ValueError("misplaced array")
        entries.append((str(name), str(kind), position, int(length), int(crc)))
        position = _aligned(position + length * np.dtype(kind).itemsize)
    if position != size:
        raise ValueError("surplus bytes")
    return entries


def _pread(descriptor: int, length: int, offset: int) -> bytes:
    content = os.pread(descriptor, length, offset)
    if len(content) != length:
        raise ValueError("the file is cut")
    return content


def _bytes(array: NDArray[Any]) -> memoryview:
    return np.ascontiguousarray(array).view(np.uint8).data


def _aligned(offset: int) -> int:
    return -(-offset // _ALIGNED) * _ALIGNED
