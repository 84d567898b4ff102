"""Read the JSON that models write: fenced, wrapped in prose, and with the habits of shells and Python.

A reader, never an evaluator: what it does not know is an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

MOST_STARTS = 40
MOST_DEPTH = 200
MOST_CHARS = 1 << 40
FENCE = re.compile(r"```[\w-]*[ \t]*\n(.*?)(?:\n[ \t]*```|\Z)", re.DOTALL)
THINKING = re.compile(r"<think(?:ing)?>.*?</think(?:ing)?>", re.DOTALL)
SPACE = re.compile(r"(?:\s|//[^\n]*|/\*.*?\*/)*", re.DOTALL)
NUMBER = re.compile(r"[-+]?(?:\d+\.?\d*|\.\d+)(?:[eE][-+]?\d+)?")
WORD = re.compile(r"[A-Za-z_$][\w$.]*")
PLAIN = re.compile(r"[^\"'\\\n]+")
REGEX = re.compile(r"/((?:[^/\\\n\[]|\\.|\[(?:[^\]\\\n]|\\.)*\])+)/([a-z]*)")
ESCAPES = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f", "v": "\v", "0": "\0"}
WORDS: dict[str, Any] = {
    "true": True,
    "false": False,
    "null": None,
    "True": True,
    "False": False,
    "None": None,
    "undefined": None,
}
CONSTRUCTORS = {
    "ISODate": "$date",
    "Date": "$date",
    "ObjectId": "$oid",
    "NumberLong": "$numberLong",
    "Long": "$numberLong",
    "NumberInt": "$numberInt",
    "Int32": "$numberInt",
    "NumberDecimal": "$numberDecimal",
    "Decimal128": "$numberDecimal",
    "UUID": "$uuid",
}
"""Shell constructors and the EJSON key that means the same."""


class NotJson(ValueError):
    """Say why a text holds no JSON that can be read, for whoever wrote it. `at` is how far the reading came."""

    def __init__(self, message: str, at: int) -> None:
        super().__init__(message)
        self.at = at


def read_json(text: str, fits: Callable[[Any], bool] = lambda _: True) -> Any:
    """Return the first JSON object or array in a text that fits; strict JSON first, then the loose form.

    Where none fits, the first object is returned, or else the first array, so that its faults can be named. A part
    of something broken is never taken for the whole.

    Raises: NotJson with the reason that the first candidate failed.
    """
    failures, values = list[NotJson](), list[Any]()
    for value in _values(_clean(text), failures):
        if fits(value):
            return value
        values.append(value)
    if not values:
        raise failures[0] if failures else NotJson("it holds no JSON object", 0)
    return min(values, key=lambda value: not isinstance(value, dict))


def _clean(text: str) -> str:
    text = THINKING.sub("", text).strip()
    return (_unquote(text) or text) if text.startswith('"') else text


def _values(text: str, failures: list[NotJson]) -> Iterator[Any]:
    """Read what the fences hold, then what each bracket begins; failures are added to the list."""
    for fenced in FENCE.findall(text):
        if fenced.lstrip()[:1] in ("{", "["):
            try:
                yield read_strict(fenced)
            except NotJson as error:
                failures.append(error)
    reached = 0
    for match in islice(re.finditer(r"[{\[]", text), MOST_STARTS):
        if match.start() < reached:
            continue
        try:
            yield read_strict(text[match.start() :])
        except NotJson as error:
            failures.append(error)
            reached = match.start() + error.at


def _unquote(text: str) -> str | None:
    """Undo one level of quoting: some models send their JSON as a JSON string."""
    try:
        inner = json.loads(text)
    except ValueError:
        return None
    return inner if isinstance(inner, str) else None


def read_strict(text: str) -> Any:
    """Return the JSON value a text begins with; what follows it is ignored.

    Raises: NotJson when there is none, or a key appears twice in one object, which would silently lose a value.
    """
    try:
        value, _ = json.JSONDecoder(object_pairs_hook=_unique).raw_decode(text.lstrip())
        return value
    except (json.JSONDecodeError, RecursionError):
        return Loose(text).read()


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for key, value in pairs:
        if key in found:
            raise NotJson(
                f"the key {key!r} appears twice in one object; join the two under one key or use $and", MOST_CHARS
            )
        found[key] = value
    return found


class Loose:
    """Read one value of relaxed JSON: comments, single quotes, bare keys, trailing commas, shell constructors."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._at = 0
        self._depth = 0

    def read(self) -> Any:
        """Return the value that the text begins with.

        Raises: NotJson with the place.
        """
        return self._value()

    def _value(self) -> Any:
        self._skip()
        start = self._peek()
        if start == "{":
            return self._nested(self._object)
        if start == "[":
            return self._nested(self._array)
        if start in "\"'" and start:
            return self._string()
        if start == "/":
            return self._regex()
        if match := NUMBER.match(self._text, self._at):
            self._at = match.end()
            return _number(match.group())
        return self._word()

    def _nested(self, read: Callable[[], Any]) -> Any:
        self._depth += 1
        if self._depth > MOST_DEPTH:
            raise self._error("it is nested too deeply")
        value = read()
        self._depth -= 1
        return value

    def _object(self) -> dict[str, Any]:
        pairs: list[tuple[str, Any]] = []
        self._at += 1
        while not self._closes("}"):
            key = self._string() if self._peek() in ('"', "'") else self._key()
            self._expect(":")
            pairs.append((key, self._value()))
            self._separate("}")
        return _unique(pairs)

    def _array(self) -> list[Any]:
        items: list[Any] = []
        self._at += 1
        while not self._closes("]"):
            items.append(self._value())
            self._separate("]")
        return items

    def _closes(self, end: str) -> bool:
        self._skip()
        if self._peek() != end:
            return False
        self._at += 1
        return True

    def _separate(self, end: str) -> None:
        self._skip()
        if self._peek() == ",":
            self._at += 1
        elif self._peek() != end:
            raise self._error(f"a comma or {end!r} is missing")

    def _expect(self, sign: str) -> None:
        self._skip()
        if self._peek() != sign:
            raise self._error(f"{sign!r} is missing")
        self._at += 1

    def _key(self) -> str:
        match = WORD.match(self._text, self._at) or NUMBER.match(self._text, self._at)
        if not match:
            raise self._error("a key is missing")
        self._at = match.end()
        return match.group()

    def _word(self) -> Any:
        match = WORD.match(self._text, self._at)
        if not match:
            raise self._error("a value is missing")
        word = match.group()
        self._at = match.end()
        if word in WORDS:
            return WORDS[word]
        if word == "new":
            self._skip()
            return self._word()
        if word in CONSTRUCTORS:
            return self._constructor(word)
        raise self._error(f"{word!r} is not a JSON value")

    def _constructor(self, word: str) -> dict[str, Any]:
        self._expect("(")
        self._skip()
        if self._closes(")"):
            raise self._error(f"{word}() needs a value")
        value = self._value()
        self._expect(")")
        return {CONSTRUCTORS[word]: value if word in ("ISODate", "Date") else str(value)}

    def _regex(self) -> dict[str, Any]:
        match = REGEX.match(self._text, self._at)
        if not match:
            raise self._error("a value is missing")
        self._at = match.end()
        return {"$regularExpression": {"pattern": match.group(1), "options": match.group(2)}}

    def _string(self) -> str:
        quote = self._peek()
        self._at += 1
        parts: list[str] = []
        while (sign := self._peek()) != quote:
            if not sign or sign == "\n":
                raise self._error("a string does not end")
            if sign == "\\":
                parts.append(self._escape())
            elif match := PLAIN.match(self._text, self._at):
                parts.append(match.group())
                self._at = match.end()
            else:  # the other kind of quote
                parts.append(sign)
                self._at += 1
        self._at += 1
        return "".join(parts)

    def _escape(self) -> str:
        sign = self._text[self._at + 1 : self._at + 2]
        if sign == "u":
            digits = self._text[self._at + 2 : self._at + 6]
            if not re.fullmatch(r"[0-9a-fA-F]{4}", digits):
                raise self._error("a \\u escape is broken")
            self._at += 6
            return chr(int(digits, 16))
        self._at += 2
        return ESCAPES.get(sign, sign)

    def _skip(self) -> None:
        match = SPACE.match(self._text, self._at)
        self._at = match.end() if match else self._at

    def _peek(self) -> str:
        return self._text[self._at : self._at + 1]

    def _error(self, message: str) -> NotJson:
        if self._at >= len(self._text):
            message = "it ends before it is complete"
        line = self._text.count("\n", 0, self._at) + 1
        return NotJson(f"{message} (line {line} of the JSON)", self._at)


def _number(text: str) -> int | float:
    try:
        return int(text)
    except ValueError:
        return float(text)
