"""A program as text for people: shell syntax, EJSON, and driver code for Python and JavaScript.

What is written reads back as the same program, types included. Characters that do not show are escaped.
"""

from __future__ import annotations

import base64
import datetime as dt
import json
import math
import re
import uuid
from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, Final, cast

from bson import Binary, Code, DatetimeMS, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp
from bson.binary import UuidRepresentation
from bson.json_util import JSONMode, JSONOptions
from bson.json_util import dumps as dump_ejson

from groundql.core.program import MqlProgram
from groundql.errors import ProgramSyntaxError
from groundql.languages.instants import in_utc
from groundql.languages.javascript import read_javascript
from groundql.languages.layout import Style, lay_out, lay_out_stages
from groundql.languages.syntax import RegexText, names

_PLAIN_NAME: Final = re.compile(r"[A-Za-z_$][A-Za-z0-9_$]*", re.ASCII)
_INT32: Final = range(-(2**31), 2**31)
"""To be asked with exact integers: for a subclass such as Int64, `in` counts through the range."""
_TAKEN: Final = names("""
    adminCommand aggregate auth changeUserPassword checkMetadataConsistency cloneDatabase commandHelp constructor
    copyDatabase createCollection createEncryptedCollection createRole createUser createView currentOp dropAllRoles
    dropAllUsers dropDatabase dropRole dropUser enableFreeMonitoring eval fsyncLock fsyncUnlock getCollection
    getCollectionInfos getCollectionNames getLastError getLastErrorObj getLogComponents getMongo getName
    getProfilingStatus getReplicationInfo getRole getRoles getSiblingDB getUser getUsers grantPrivilegesToRole
    grantRolesToRole grantRolesToUser hasOwnProperty hello help hostInfo isMaster killOp listCommands logout
    printCollectionStats printReplicationInfo printShardingStatus prototype removeUser resetError revokeRolesFromRole
    revokeRolesFromUser rotateCertificates runCommand serverBits serverBuildInfo serverCmdLineOpts serverStatus
    setLogLevel setProfilingLevel setSecondaryOk shutdownServer sql stats toString updateRole updateUser valueOf version
    watch
""")
"""Members of a shell's `db` that are no collections."""
_DEFAULT_URI: Final = "mongodb://localhost:27017/your_database"


def to_shell(program: MqlProgram) -> str:
    """Write a program in shell syntax, ready to paste."""
    return f"{_shell_collection(program.container)}.aggregate({lay_out_stages(program.stages, _SHELL)})"


def to_ejson(program: MqlProgram, canonical: bool = False) -> str:
    """Write a program as one EJSON object with `collection` and `pipeline`; relaxed unless asked for canonical."""
    mode = JSONMode.CANONICAL if canonical else JSONMode.RELAXED
    options = JSONOptions(json_mode=mode, uuid_representation=UuidRepresentation.STANDARD)
    stages = json.loads(dump_ejson(list(program.stages), json_options=options))
    parts = [f'"collection": {_json_text(program.container)}', f'"pipeline": {lay_out_stages(tuple(stages), _JSON, 2)}']
    return "{\n  " + ",\n  ".join(parts) + "\n}"


def to_python(program: MqlProgram, uri: str = _DEFAULT_URI) -> str:
    """Write a program as Python code for the driver, with its imports. `uri` names the database."""
    used: set[str] = set()
    style = Style(_python_text, partial(_leaf, _PYTHON, used), indent=4)
    pipeline = lay_out_stages(program.stages, style)
    lines = [
        *_python_imports(used),
        "",
        f"client = MongoClient({_python_text(uri)})",
        "db = client.get_default_database()",
        f"rows = list(db[{_python_text(program.container)}].aggregate({pipeline}))",
        "for row in rows:",
        "    print(row)",
    ]
    return "\n".join(lines) + "\n"


def to_javascript(program: MqlProgram, uri: str = _DEFAULT_URI) -> str:
    """Write a program as JavaScript code for the driver, with its imports. `uri` names the database."""
    used: set[str] = set()
    pipeline = lay_out_stages(program.stages, Style(_script_key, partial(_leaf, _NODE, used), padding=" "))
    lines = [
        f"import {{ {', '.join(['MongoClient', *sorted(used)])} }} from 'mongodb';",
        "",
        f"const client = new MongoClient({_script_text(uri)});",
        "const db = client.db();",
        f"const rows = await db.collection({_script_text(program.container)}).aggregate({pipeline}).toArray();",
        "console.log(rows);",
        "await client.close();",
    ]
    return "\n".join(lines) + "\n"


def _shell_collection(name: str) -> str:
    plain = _PLAIN_NAME.fullmatch(name) and name not in _TAKEN and not name.startswith("_")
    return f"db.{name}" if plain else f"db.getCollection({_script_text(name)})"


# --- text -------------------------------------------------------------------------------------------------------------


def _escaped(text: str, escape: Callable[[int], str]) -> str:
    shown = {'"': '\\"', "\\": "\\\\", "\n": "\\n", "\t": "\\t", "\r": "\\r"}
    return "".join(shown.get(c) or (c if c.isprintable() else escape(ord(c))) for c in text)


def _script_escape(code: int) -> str:
    if code <= 0xFFFF:
        return f"\\u{code:04x}"
    high, low = divmod(code - 0x10000, 0x400)
    return f"\\u{0xD800 + high:04x}\\u{0xDC00 + low:04x}"


def _python_escape(code: int) -> str:
    return f"\\x{code:02x}" if code <= 0xFF else f"\\u{code:04x}" if code <= 0xFFFF else f"\\U{code:08x}"


def _script_text(text: str) -> str:
    return f'"{_escaped(text, _script_escape)}"'


def _python_text(text: str) -> str:
    return f'"{_escaped(text, _python_escape)}"'


_json_text = _script_text


def _script_key(key: str) -> str:
    if key == "__proto__":
        return '["__proto__"]'  # without the brackets it would name the object's prototype
    return key if _PLAIN_NAME.fullmatch(key) else _script_text(key)


# --- values -----------------------------------------------------------------------------------------------------------

Writer = Callable[[Any], tuple[str, str]]
"""A value to the name that must be imported ("" for none) and its text."""


def _leaf(writers: Mapping[type[Any], Writer], used: set[str], value: Any) -> str:
    for kind, write in writers.items():
        if isinstance(value, kind):
            name, text = write(value)
            used.update(name.split())
            return text
    raise ProgramSyntaxError(f"{type(value).__name__} is not a value that can be written")


def _plain(text: str) -> tuple[str, str]:
    return "", text


def _call(name: str, *arguments: str, new: str = "") -> tuple[str, str]:
    return name.partition(".")[0], f"{new}{name}({', '.join(arguments)})"


def _script_float(value: float) -> str:
    if math.isnan(value):
        return "NaN"
    return repr(value) if math.isfinite(value) else "Infinity" if value > 0 else "-Infinity"


def _python_float(value: float) -> tuple[str, str]:
    return _plain(repr(value) if math.isfinite(value) else f'float("{value!r}")')


def _iso(value: dt.datetime) -> str:
    stored = in_utc(value)
    return f'"{stored.isoformat(timespec="milliseconds" if stored.microsecond else "seconds")}Z"'


def _python_date(value: dt.datetime) -> tuple[str, str]:
    d = in_utc(value)
    parts = [d.year, d.month, d.day, d.hour, d.minute, d.second, d.microsecond]
    while len(parts) > 3 and not parts[-1]:
        parts.pop()
    return "datetime timezone", f"datetime({', '.join(map(str, parts))}, tzinfo=timezone.utc)"


def _base64(value: bytes) -> str:
    return f'"{base64.b64encode(value).decode()}"'


def _as_uuid(value: Binary) -> uuid.UUID | None:
    return uuid.UUID(bytes=bytes(value)) if value.subtype == 4 and len(value) == 16 else None


def _letters(flags: int) -> str:
    kept = {"i": re.IGNORECASE, "m": re.MULTILINE, "s": re.DOTALL, "x": re.VERBOSE}
    return "".join(letter for letter, flag in kept.items() if flags & flag)


def _pattern(value: Regex[Any] | re.Pattern[Any]) -> tuple[str, str]:
    pattern = value.pattern if isinstance(value.pattern, str) else value.pattern.decode("utf-8", "replace")
    return pattern, _letters(value.flags)


def _script_regex(value: Any) -> tuple[str, str]:
    pattern, flags = _pattern(value)
    literal = f"/{pattern}/{flags}"
    # A leading * would open a comment.
    is_simple = pattern.isprintable() and "/" not in pattern and not pattern.startswith("*") and "x" not in flags
    if is_simple and _reads_back(literal, pattern, flags):
        return _plain(literal)
    arguments = [_script_text(pattern), *([_script_text(flags)] if flags else [])]
    return _call("BSONRegExp", *arguments, new="new ") if "x" in flags else ("", f"new RegExp({', '.join(arguments)})")


def _reads_back(literal: str, pattern: str, flags: str) -> bool:
    try:
        statements = read_javascript(f"f({literal})").statements
    except ProgramSyntaxError:
        return False
    call = cast("Any", statements[0]).value if len(statements) == 1 else None
    found = getattr(call, "arguments", ())
    return (
        len(found) == 1 and isinstance(found[0], RegexText) and (found[0].pattern, found[0].flags) == (pattern, flags)
    )


def _python_regex(value: Any) -> tuple[str, str]:
    pattern, flags = _pattern(value)
    return _call("Regex", _python_text(pattern), *([_python_text(flags)] if flags else []))


def _reference(
    text: Callable[[str], str], writers: Callable[[], Mapping[type[Any], Writer]], value: DBRef
) -> tuple[str, str]:
    used: set[str] = set()
    written = lay_out(value.id, Style(text, partial(_leaf, writers(), used)))
    return " ".join(["DBRef", *used]), f"DBRef({text(value.collection)}, {written})"


def _shell_int(value: int) -> tuple[str, str]:
    return _plain(str(value) if int(value) in _INT32 and not isinstance(value, Int64) else f'NumberLong("{value}")')


def _node_int(value: int) -> tuple[str, str]:
    if int(value) in _INT32 and not isinstance(value, Int64):
        return _plain(str(value))
    return _call("Long.fromString", f'"{value}"')


def _node_float(value: float) -> tuple[str, str]:
    # A whole number would be sent as an integer.
    return (
        _call("Double", str(int(value)), new="new ") if value.is_integer() and value else _plain(_script_float(value))
    )


def _shell_binary(value: bytes) -> tuple[str, str]:
    found = _as_uuid(value) if isinstance(value, Binary) else None
    subtype = value.subtype if isinstance(value, Binary) else 0
    return _plain(f'UUID("{found}")' if found else f"BinData({subtype}, {_base64(value)})")


def _node_binary(value: bytes) -> tuple[str, str]:
    found = _as_uuid(value) if isinstance(value, Binary) else None
    if found:
        return _call("UUID", f'"{found}"', new="new ")
    return _call("Binary.createFromBase64", _base64(value), str(value.subtype if isinstance(value, Binary) else 0))


def _python_binary(value: bytes) -> tuple[str, str]:
    found = _as_uuid(value) if isinstance(value, Binary) else None
    if found:
        return "Binary UUID", f'Binary.from_uuid(UUID("{found}"))'
    if isinstance(value, Binary):
        return _call("Binary", repr(bytes(value)), str(value.subtype))
    return _plain(repr(value))


def _python_int(value: int) -> tuple[str, str]:
    return _call("Int64", str(int(value))) if isinstance(value, Int64) else _plain(str(value))


_SHELL_VALUES: Final[Mapping[type[Any], Writer]] = {
    type(None): lambda value: _plain("null"),
    bool: lambda value: _plain("true" if value else "false"),
    int: _shell_int,
    float: lambda value: _plain(_script_float(value)),
    Code: lambda value: _plain(f"Code({_script_text(str(value))})"),
    str: lambda value: _plain(_script_text(value)),
    dt.datetime: lambda value: _plain(f"ISODate({_iso(value)})"),
    DatetimeMS: lambda value: _plain(f"new Date({int(value)})"),
    ObjectId: lambda value: _plain(f'ObjectId("{value}")'),
    Decimal128: lambda value: _plain(f'NumberDecimal("{value}")'),
    Regex: _script_regex,
    re.Pattern: _script_regex,
    bytes: _shell_binary,
    uuid.UUID: lambda value: _plain(f'UUID("{value}")'),
    Timestamp: lambda value: _plain(f"Timestamp({{ t: {value.time}, i: {value.inc} }})"),
    MinKey: lambda value: _plain("MinKey()"),
    MaxKey: lambda value: _plain("MaxKey()"),
    DBRef: partial(_reference, _script_text, lambda: _SHELL_VALUES),
}

_NODE: Final[Mapping[type[Any], Writer]] = {
    **_SHELL_VALUES,
    int: _node_int,
    float: _node_float,
    Code: lambda value: _call("Code", _script_text(str(value)), new="new "),
    dt.datetime: lambda value: _plain(f"new Date({_iso(value)})"),
    ObjectId: lambda value: _call("ObjectId", f'"{value}"', new="new "),
    Decimal128: lambda value: _call("Decimal128.fromString", f'"{value}"'),
    bytes: _node_binary,
    uuid.UUID: lambda value: _call("UUID", f'"{value}"', new="new "),
    Timestamp: lambda value: _call("Timestamp", f"{{ t: {value.time}, i: {value.inc} }}", new="new "),
    MinKey: lambda value: _call("MinKey", new="new "),
    MaxKey: lambda value: _call("MaxKey", new="new "),
    DBRef: lambda value: _new(_reference(_script_text, lambda: _NODE, value)),
}


def _new(written: tuple[str, str]) -> tuple[str, str]:
    return written[0], "new " + written[1]


_PYTHON: Final[Mapping[type[Any], Writer]] = {
    type(None): lambda value: _plain("None"),
    bool: lambda value: _plain("True" if value else "False"),
    int: _python_int,
    float: _python_float,
    Code: lambda value: _call("Code", _python_text(str(value))),
    str: lambda value: _plain(_python_text(value)),
    dt.datetime: _python_date,
    DatetimeMS: lambda value: _call("DatetimeMS", str(int(value))),
    ObjectId: lambda value: _call("ObjectId", f'"{value}"'),
    Decimal128: lambda value: _call("Decimal128", f'"{value}"'),
    Regex: _python_regex,
    re.Pattern: _python_regex,
    bytes: _python_binary,
    uuid.UUID: lambda value: ("Binary UUID", f'Binary.from_uuid(UUID("{value}"))'),
    Timestamp: lambda value: _call("Timestamp", str(value.time), str(value.inc)),
    MinKey: lambda value: _call("MinKey"),
    MaxKey: lambda value: _call("MaxKey"),
    DBRef: partial(_reference, _python_text, lambda: _PYTHON),
}

_JSON_VALUES: Final[Mapping[type[Any], Writer]] = {
    **{kind: _SHELL_VALUES[kind] for kind in (type(None), bool, float, str)},
    int: lambda value: _plain(str(value)),
}

_SHELL: Final = Style(_script_key, partial(_leaf, _SHELL_VALUES, set[str]()), padding=" ")
_JSON: Final = Style(_json_text, partial(_leaf, _JSON_VALUES, set[str]()))


def _python_imports(used: set[str]) -> list[str]:
    groups = {"datetime": ("datetime", "timezone"), "uuid": ("UUID",)}
    standard = [
        f"from {module} import {', '.join(name for name in found if name in used)}"
        for module, found in groups.items()
        if used & set(found)
    ]
    rest = sorted(used - {"datetime", "timezone", "UUID"})
    driver = [*([f"from bson import {', '.join(rest)}"] if rest else []), "from pymongo import MongoClient"]
    return [*standard, *([""] if standard else []), *driver]
