"""Files of BSON documents, one after another, as `mongodump` writes them."""

from __future__ import annotations

import struct
from typing import IO, Any, Final

import bson
from bson.codec_options import CodecOptions, DatetimeConversion
from bson.errors import BSONError
from bson.raw_bson import RawBSONDocument

from groundql.databases.unreadable import Document, Found, Wrong, shown, twice

_LARGEST_BSON: Final = 48 * 1024 * 1024
_CODEC: Final = CodecOptions[dict[str, Any]](
    datetime_conversion=DatetimeConversion.DATETIME_AUTO, unicode_decode_error_handler="replace"
)
_RAW: Final = _CODEC.with_options(document_class=RawBSONDocument)


def read_bson(stream: IO[bytes]) -> Found:
    """Stream the documents of a BSON file.

    Raises: Wrong with the number of a document that cannot be read.
    """
    number = 0
    while head := stream.read(4):
        number += 1
        place = f"document {number}"
        size_bytes = struct.unpack("<i", head)[0] if len(head) == 4 else 0
        if not 5 <= size_bytes <= _LARGEST_BSON:
            raise Wrong(place, "not BSON: the length is impossible")
        body = stream.read(size_bytes - 4)
        if len(body) < size_bytes - 4:
            raise Wrong(place, "the file is cut off here")
        yield place, "", _raw(head + body, place)


def _raw(data: bytes, place: str) -> Document:
    try:  # stored as it is, but only if it can be read
        read = bson.decode(data, _CODEC)  # pyright: ignore[reportUnknownMemberType]
        key = None if _is_as_read(data, read) else _repeated(data)
    except (BSONError, OverflowError) as error:
        raise Wrong(place, f"not BSON: {error}") from None
    if key is not None:
        raise twice(place, shown(key))
    return RawBSONDocument(data, _RAW)


def _repeated(data: bytes) -> str | None:
    """Return a key that occurs twice in one object."""
    keys: list[str] = []

    class Watched(dict[str, Any]):
        def __setitem__(self, key: str, value: Any) -> None:
            if key in self:
                keys.append(key)  # what is raised here would come out as a fault of the data
            super().__setitem__(key, value)

    bson.decode(data, _CODEC.with_options(document_class=Watched))  # pyright: ignore[reportUnknownMemberType]
    return keys[0] if keys else None


def _is_as_read(data: bytes, read: dict[str, Any]) -> bool:
    """Tell cheaply that nothing was lost in reading; where it cannot be told, a slower look follows."""
    try:
        return bson.encode(read) == data
    except (BSONError, OverflowError, TypeError, ValueError, RecursionError):
        return False
