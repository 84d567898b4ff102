"""Data files as streams of documents: `.json`, `.jsonl`, `.ndjson`, `.bson`, each also `.gz`, and folders of them.

Extended JSON is understood. A `.jsonl` or `.bson` file is read document by document; so is a `.json` file that holds
an array or objects one after another. One object whose values are arrays of objects is a whole database: each key is a
collection.
"""

from __future__ import annotations

import gzip
import io
import re
import zlib
from codecs import getincrementaldecoder
from collections import Counter
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from json import JSONDecodeError, JSONDecoder
from pathlib import Path
from typing import IO, Any, Final, cast

from bson import json_util
from bson.codec_options import DatetimeConversion
from bson.errors import BSONError
from bson.json_util import JSONMode, JSONOptions

from groundql.databases.bson_file import read_bson
from groundql.databases.forms import FORMS, how_to_convert, is_table, suffixes_of
from groundql.databases.unreadable import Document, Found, Twice, Wrong, shown, twice
from groundql.errors import LoadError

_GZIP: Final = b"\x1f\x8b"
_NOT_DATA: Final = (".metadata.json", "prelude.json")
"""What mongodump writes beside the data."""
_CHUNK: Final = 1 << 16
LONGEST_DOCUMENT: Final = 1 << 26
"""Characters that no document takes: it has at most 16 MB as BSON, and its text a few times as many."""
_OPTIONS: Final = JSONOptions(
    json_mode=JSONMode.RELAXED,
    tz_aware=False,
    tzinfo=None,
    datetime_conversion=DatetimeConversion.DATETIME_AUTO,
)


@dataclass(frozen=True, slots=True)
class DataFile:
    """One file of documents. `container` is the collection that its documents go to. Units: `size_bytes` on disk."""

    path: Path
    container: str
    form: str
    size_bytes: int


@dataclass(frozen=True, slots=True)
class Located:
    """A document with the place it was read from. Units: `read_bytes` bytes of the file on disk taken so far."""

    container: str
    document: Document
    place: str
    read_bytes: int


def find_files(path: Path, container: str = "") -> tuple[DataFile, ...]:
    """Find the data files of a folder, or the one file that the path names, ordered by name.

    `container` names the collection of a single file; otherwise the file's name up to the first ending does.
    Raises: LoadError when there is nothing to read, or two files go to one collection.
    """
    if path.is_dir():
        if container:
            raise LoadError(f"{path}: a collection can be named for a single file only, not for a folder")
        files = tuple(_data_file(p) for p in sorted(path.iterdir()) if p.is_file() and _form(p))
        if not files:
            raise _nothing_in(path)
        _refuse_twins(files)
        return files
    if not path.exists():
        raise LoadError(f"{path}: no such file or folder")
    if not _form(path):
        raise LoadError(f"{path}: not a data file", hint=how_to_convert(path))
    return (_data_file(path, container),)


def read_documents(file: DataFile, *, longest: int = LONGEST_DOCUMENT) -> Iterator[Located]:
    """Stream the documents of a file.

    An object of `longest` characters or more cannot be a document; it is read as a database, document by document.
    Raises: LoadError naming the file and the line (or the document's number), with what is wrong there.
    """
    with _opened(file) as (stream, taken):
        match file.form:
            case "bson":
                found = read_bson(stream)
            case "jsonl":
                found = _lines(stream)
            case _:
                found = _json(stream, longest)
        place = ""
        try:
            for place, inner, document in found:
                yield Located(inner or file.container, document, f"{file.path}, {place}", taken())
        except Wrong as error:
            raise LoadError(f"{file.path}, {error.place}: {error}", hint=error.hint) from None
        except (EOFError, gzip.BadGzipFile, zlib.error) as error:
            after = f" after {place}" if place else ""
            raise LoadError(f"{file.path}: the compressed data is damaged or cut off{after} ({error})") from None
        except UnicodeDecodeError as error:
            raise LoadError(f"{file.path}: not UTF-8 text (byte {error.object[error.start]:#04x})") from None
        except OSError as error:
            raise LoadError(f"{file.path}: {error.strerror or error}") from None
        if not place:
            raise NoDocuments(f"{file.path}: holds no documents")


class NoDocuments(LoadError):
    """Report a file without documents; in a folder it is an empty collection, as dumps write them."""


# --- which files ------------------------------------------------------------------------------------------------------
def _form(path: Path) -> str:
    if path.name.startswith(".") or path.name.lower().removesuffix(".gz").endswith(_NOT_DATA):
        return ""
    return FORMS.get(suffixes_of(path)[1], "")


def _data_file(path: Path, container: str = "") -> DataFile:
    name = container or suffixes_of(path)[0]
    if not name or "$" in name or "\0" in name or name.startswith("system."):
        raise LoadError(f"{path}: {name!r} cannot name a collection", hint="name one, or rename the file")
    return DataFile(path, name, _form(path), path.stat().st_size)


def _nothing_in(path: Path) -> LoadError:
    deeper = next((p for p in sorted(path.iterdir()) if p.is_dir() and any(map(_form, p.iterdir()))), None)
    table = next((p for p in sorted(path.iterdir()) if is_table(p)), None)
    hint = f"there are some in {deeper}" if deeper else how_to_convert(table or path)
    return LoadError(f"{path}: no data files in this folder", hint=hint)


def _refuse_twins(files: tuple[DataFile, ...]) -> None:
    by_name: dict[str, DataFile] = {}
    for file in files:
        twin = by_name.setdefault(file.container, file)
        if twin is not file:
            raise LoadError(
                f"{twin.path.name} and {file.path.name} would both become the collection {file.container!r}",
                hint="rename one of them, or load them one by one",
            )


@contextmanager
def _opened(file: DataFile) -> Iterator[tuple[IO[bytes], Any]]:
    try:
        raw = file.path.open("rb")
    except OSError as error:
        raise LoadError(f"{file.path}: {error.strerror}") from None
    with raw:
        is_gzip = raw.read(2) == _GZIP
        raw.seek(0)
        if is_gzip:
            with gzip.GzipFile(fileobj=raw) as unpacked:
                yield cast("IO[bytes]", io.BufferedReader(unpacked, _CHUNK)), raw.tell
        elif file.path.suffix.lower() == ".gz" and file.size_bytes:
            raise LoadError(f"{file.path}: not gzip data, in spite of its name")
        else:
            yield raw, raw.tell


# --- JSON -------------------------------------------------------------------------------------------------------------
def _object(pairs: list[tuple[str, Any]]) -> Any:
    """Read extended JSON; an object whose first key is no `$...` is an ordinary one."""
    found = dict(pairs)
    if len(found) < len(pairs):
        raise Twice(shown(next(key for key, count in Counter(key for key, _ in pairs).items() if count > 1)))
    if pairs and pairs[0][0].startswith("$"):
        return json_util.object_pairs_hook(pairs, _OPTIONS)  # pyright: ignore[reportUnknownMemberType]
    return found


_DECODER: Final = JSONDecoder(object_pairs_hook=_object)


def _lines(stream: IO[bytes]) -> Found:
    for number, raw in enumerate(stream, 1):
        line = raw.decode("utf-8-sig" if number == 1 else "utf-8").strip()
        if line:
            place = f"line {number}"
            yield place, "", _document(_decoded(line, place), place)


def _decoded(text: str, place: str) -> Any:
    try:
        return _DECODER.decode(text)
    except JSONDecodeError as error:
        hint = "an array over several lines belongs in a .json file" if text.startswith("[") else ""
        raise Wrong(f"{place}, column {error.colno}", f"not JSON: {error.msg}", hint) from None
    except Twice as error:
        raise twice(place, str(error)) from None
    except (BSONError, TypeError, ValueError, KeyError, RecursionError) as error:
        raise Wrong(place, f"not extended JSON: {_reason(error)}") from None


def _reason(error: Exception) -> str:
    return "nested too deep" if isinstance(error, RecursionError) else str(error)[:200]


def _document(value: Any, place: str) -> Document:
    if isinstance(value, Mapping):
        return cast("Document", value)
    raise Wrong(place, f"a document is due, found {_kind(value)}")


def _kind(value: Any) -> str:
    match value:
        case list():
            return "an array"
        case str():
            return "a string"
        case None:
            return "null"
        case _:
            return f"a value of type {type(cast('object', value)).__name__}"


def _json(stream: IO[bytes], longest: int) -> Found:
    text = _Text(stream)
    first = text.peek()
    if not first:
        return
    if first == "[":
        yield from _array(text)
        return
    try:
        place, value = text.value(longest)
    except _Longer:
        yield from _collections(text)
        return
    first_document = _document(value, place)
    if not text.peek():
        yield from _one_object(first_document, place)
        return
    yield place, "", first_document
    while text.peek():
        place, value = text.value()
        yield place, "", _document(value, place)


def _array(text: _Text) -> Found:
    for place, document in _items(text):
        yield place, "", document
    if text.peek():
        raise Wrong(text.place, "something follows the array")


def _items(text: _Text) -> Iterator[tuple[str, Document]]:
    text.take("[")
    if text.peek() != "]":
        while True:
            place, value = text.value()
            yield place, _document(value, place)
            if text.peek() != ",":
                break
            text.take(",")
    text.take("]")


def _collections(text: _Text) -> Found:
    """Read an object that is too long for a document, and so must be a whole database, collection by collection."""
    seen: set[str] = set()
    closing = "{"
    while closing != "}":
        text.take(closing)
        place, name = text.value()
        if not isinstance(name, str) or name in seen:
            raise twice(place, shown(name)) if name in seen else Wrong(place, f"a name is due, found {_kind(name)}")
        seen.add(name)
        text.take(":")
        if text.peek() != "[":
            raise Wrong(text.place, f"the object is too long for a document, and {shown(name)} is no collection")
        for number, (_, document) in enumerate(_items(text), 1):
            yield f"document {number} of {name!r}", name, document
        closing = "," if text.peek() == "," else "}"
    text.take("}")
    if text.peek():
        raise Wrong(text.place, "something follows the database")


def _one_object(document: Document, place: str) -> Found:
    if not _is_database(document):
        yield place, "", document
        return
    for container, documents in document.items():
        for number, inner in enumerate(documents, 1):
            yield f"document {number} of {container!r}", container, inner


def _is_database(document: Document) -> bool:
    """Tell a map of collections from a document: every value is an array of objects, and not all are empty."""
    if not document or not all(isinstance(v, list) for v in document.values()):
        return False
    values = cast("list[list[Any]]", list(document.values()))
    return any(values) and all(isinstance(d, dict) for v in values for d in v)


_LONGEST_TOKEN: Final = 400
"""Longer than any number or escape that a chunk may cut in two."""
_BLANK: Final = re.compile(r"[ \t\n\r]*")


class _Longer(Exception):
    """Report a value that does not end within the characters allowed; nothing of it is taken."""


class _Text:
    """JSON text read in chunks: one value at a time, with the line it begins on."""

    def __init__(self, stream: IO[bytes]) -> None:
        self._stream = stream
        self._decoder = getincrementaldecoder("utf-8-sig")()
        self._buffer = ""
        self._at = 0
        self._line = 1
        self._is_complete = False

    @property
    def place(self) -> str:
        return f"line {self._line}"

    def peek(self) -> str:
        """Skip blanks and return the next character, or nothing at the end."""
        while True:
            match = _BLANK.match(self._buffer, self._at)
            self._advance(match.end() if match else self._at)
            if self._at < len(self._buffer) or not self._more(_CHUNK):
                return self._buffer[self._at : self._at + 1]

    def take(self, character: str) -> None:
        """Step over a character that must be there."""
        found = self.peek()
        if found != character:
            raise Wrong(self.place, f"not JSON: expected {character!r}, found {found or 'the end of the file'}")
        self._advance(self._at + 1)

    def value(self, longest: int | None = None) -> tuple[str, Any]:
        """Read one value; returns the place where it begins and the value.

        Raises: _Longer when it does not end within `longest` characters.
        """
        self.peek()
        place = self.place
        while True:
            try:
                value, end = _DECODER.raw_decode(self._buffer, self._at)
                if end < len(self._buffer) or not self._more(_CHUNK):  # a number may go on in the next chunk
                    self._advance(end)
                    return place, value
            except JSONDecodeError as error:
                if longest is not None and len(self._buffer) - self._at >= longest:
                    raise _Longer from None
                # Read twice as much before the next try, so that a large value costs a constant factor only.
                if self._is_final(error) or not self._more(max(_CHUNK, len(self._buffer) - self._at)):
                    line = self._line + self._buffer.count("\n", self._at, error.pos)
                    raise Wrong(f"line {line}", f"not JSON: {error.msg}") from None
            except Twice as error:
                raise twice(place, str(error)) from None
            except (BSONError, TypeError, ValueError, KeyError, RecursionError) as error:
                raise Wrong(place, f"not extended JSON: {_reason(error)}") from None

    def _is_final(self, error: JSONDecodeError) -> bool:
        """Tell an error in the text from a value whose rest has not been read yet."""
        return not error.msg.startswith("Unterminated string") and error.pos < len(self._buffer) - _LONGEST_TOKEN

    def _advance(self, to: int) -> None:
        self._line += self._buffer.count("\n", self._at, to)
        self._at = to

    def _more(self, size_bytes: int) -> bool:
        """Read on; returns whether there was anything left."""
        if self._is_complete:
            return False
        raw = self._stream.read(size_bytes)
        self._is_complete = not raw
        self._buffer = self._buffer[self._at :] + self._decoder.decode(raw, final=not raw)
        self._at = 0
        return not self._is_complete
