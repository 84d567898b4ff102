"""The read methods of a collection, as aggregation stages.

`find` with its cursor methods, counts and `distinct` have an equivalent pipeline; it is built here. What a method
does beyond choosing and shaping documents (time limits, hints, comments) is left out, and noted. What would change
the answer and has no equivalent is refused.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Final, cast

from rapidfuzz import process

from groundql.languages.calls import Chain, Method
from groundql.languages.constants import Constants
from groundql.languages.projection import check_projection, projected
from groundql.languages.syntax import Constant, Spot, names, syntax_error

Stage = dict[str, Any]

WRITES: Final = names("""
    insert insertOne insertMany insert_one insert_many save update updateOne updateMany update_one
    update_many replaceOne replace_one remove deleteOne deleteMany delete_one delete_many drop dropIndex
    dropIndexes drop_index drop_indexes createIndex createIndexes create_index create_indexes ensureIndex
    renameCollection rename bulkWrite bulk_write findAndModify findOneAndUpdate findOneAndReplace
    findOneAndDelete find_one_and_update find_one_and_replace find_one_and_delete initializeOrderedBulkOp
    initializeUnorderedBulkOp convertToCapped createSearchIndex updateSearchIndex dropSearchIndex hideIndex
    unhideIndex reIndex dropDatabase drop_database createCollection create_collection createView drop_collection
    dropCollection createUser updateUser dropUser dropAllUsers grantRolesToUser revokeRolesFromUser createRole dropRole
    renameCollection shutdownServer fsyncLock
""")
_CODE: Final = names("""mapReduce map_reduce group inline_map_reduce map forEach addCursorFlag""")
_IDLE: Final = names("""
    allowDiskUse allow_disk_use maxTimeMS max_time_ms maxAwaitTimeMS max_await_time_ms comment hint
    batchSize batch_size readConcern readPref readPreference noCursorTimeout no_cursor_timeout cursor
    session serializeFunctions singleBatch allowPartialResults allow_partial_results writeConcern
    bypassDocumentValidation raw promoteValues promoteLongs useBigInt64 timeoutMS
""")
"""Options and cursor methods that do not change which rows are right."""
_DISPLAYS: Final = frozenset({"toArray", "pretty", "to_list", "rewind", "clone", "close", "toJSON", "lean", "exec"})
_REFUSED: Final = {
    "collation": "a collation changes what counts as equal, and is not read",
    "let": "variables of the whole pipeline are not read: write the values themselves",
    "min": "index bounds are not read: use a filter",
    "max": "index bounds are not read: use a filter",
    "returnKey": "index keys are not read",
    "showRecordId": "record ids are not read",
    "tailable": "a cursor without an end is not read",
    "cursor_type": "a cursor without an end is not read",
}
_ONLY_READS: Final = "only reads are accepted: aggregate, find, findOne, countDocuments, distinct"


@dataclass(slots=True)
class _Draft:
    """What the calls of a chain have come to so far."""

    constants: Constants
    stages: list[Stage] = field(default_factory=list[Stage])
    is_find: bool = False
    is_done: bool = False
    filter: Stage = field(default_factory=dict[str, Any])
    sort: Stage = field(default_factory=dict[str, Any])
    skip: int = 0
    limit: int = 0
    projection: Stage = field(default_factory=dict[str, Any])
    notes: list[str] = field(default_factory=list[str])

    def note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)

    def found(self) -> list[Stage]:
        """The stages of a find: a cursor's methods act in a fixed order, however they are written."""
        parts: list[tuple[str, Any]] = [
            ("$match", self.filter),
            ("$sort", self.sort),
            ("$skip", self.skip),
            ("$limit", self.limit),
        ]
        return [*({name: value} for name, value in parts if value), *projected(self.projection)]


def read_methods(chain: Chain, constants: Constants) -> tuple[tuple[Stage, ...], tuple[str, ...]]:
    """Return the stages that a chain of calls is equivalent to, and notes on what was left out.

    Raises: ProgramSyntaxError for a method that writes, runs code or has no equivalent.
    """
    draft = _Draft(constants)
    methods = list(chain.methods)
    if methods[0].name == "explain" and len(methods) > 1:
        methods.append(methods.pop(0))
    first, *rest = methods
    start = _FIRST.get(first.name)
    if start is None:
        raise unsupported(first, tuple(_FIRST))
    start(draft, _Arguments(first, constants))
    for method in rest:
        _continue(draft, method)
    return tuple(draft.found() if draft.is_find else draft.stages), tuple(draft.notes)


def unsupported(method: Method, known: tuple[str, ...] = ()) -> Exception:
    """Return the error for a method that is not read: why not, and what was probably meant."""
    shown = method.name[:60]
    if method.name in WRITES:
        return syntax_error(f"{shown} writes, and only reads are accepted", method.at, _ONLY_READS)
    if method.name in _CODE:
        return syntax_error(f"{shown} runs code, and only reads are accepted", method.at, _ONLY_READS)
    if method.name in _REFUSED:
        return syntax_error(f"{shown}: {_REFUSED[method.name]}", method.at)
    if method.name == "watch":
        return syntax_error("watch never ends, and only reads that end are accepted", method.at, _ONLY_READS)
    nearest = process.extractOne(method.name[:60], known, score_cutoff=75)
    hint = f"did you mean {nearest[0]}?" if nearest else _ONLY_READS
    return syntax_error(f"{shown} is not a method that is read", method.at, hint)


def _applies_skip_and_limit(method: Method) -> bool:
    return any(isinstance(a, Constant) and a.value is True for a in method.arguments)


# --- arguments --------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Arguments:
    """The worked-out arguments of one call."""

    method: Method
    constants: Constants
    values: list[Any] = field(default_factory=list[Any])
    keywords: dict[str, Any] = field(default_factory=dict[str, Any])

    def __post_init__(self) -> None:
        self.values = list(self.constants.items(self.method.arguments))
        self.keywords = {name: self.constants.value(node) for name, node in self.method.keywords}

    @property
    def at(self) -> Spot:
        return self.method.at

    def document(self, index: int, keyword: str) -> Stage:
        """Return the document at a position, or by keyword; an empty one when it is not there."""
        value = self.values[index] if index < len(self.values) else self.keywords.pop(keyword, None)
        return self.as_document(value, keyword)

    def as_document(self, value: Any, noun: str) -> Stage:
        if value is None:
            return {}
        if not isinstance(value, dict):
            raise self.error(f"the {noun} of {self.method.name} is an object, not {type(value).__name__}")
        return cast("Stage", value)

    def whole(self, value: Any) -> int:
        if isinstance(value, float) and value.is_integer():
            value = int(value)
        if isinstance(value, bool) or not isinstance(value, int):
            raise self.error(f"{self.method.name} takes a whole number")
        return int(value)

    def no_more(self, most: int) -> None:
        if len(self.values) > most:
            raise self.error(f"{self.method.name} takes at most {most} arguments")

    def error(self, message: str) -> Exception:
        return syntax_error(message, self.at)


def _apply_options(draft: _Draft, given: _Arguments, options: Mapping[str, Any]) -> None:
    for name, value in options.items():
        if name in _IDLE:
            draft.note(f"{name} is left out: limits and plans are set when the program runs")
        elif name == "explain":
            draft.note("explain is left out: the query itself is read")
        elif name in _REFUSED and value:
            raise given.error(f"{name}: {_REFUSED[name]}")
        elif draft.is_find and name in _CURSOR_OPTIONS:
            _CURSOR_OPTIONS[name](draft, given, [value])
        elif name not in _REFUSED:
            known = (*_CURSOR_OPTIONS, *_IDLE, *_REFUSED)
            nearest = process.extractOne(name[:60], known, score_cutoff=75)
            raise syntax_error(
                f"{name[:60]} is not an option of {given.method.name}",
                given.at,
                f"did you mean {nearest[0]}?" if nearest else "",
            )


# --- the first call ---------------------------------------------------------------------------------------------------


def _aggregate(draft: _Draft, given: _Arguments) -> None:
    values = given.values or [given.keywords.pop("pipeline", [])]
    if isinstance(values[0], list):
        given.no_more(2)
        draft.stages = read_stages(cast("list[Any]", values[0]), given.at)
        options = given.document(1, "options")
    else:
        # `aggregate(stage, stage, ...)`: only what follows the stages can be options.
        has_options = len(values) > 1 and isinstance(values[-1], dict) and not _is_stage(values[-1])
        draft.stages = read_stages(values[:-1] if has_options else values, given.at)
        options = given.as_document(values[-1], "options") if has_options else {}
    _apply_options(draft, given, {**options, **given.keywords})


def _is_stage(value: Any) -> bool:
    return next(iter(cast("Stage", value)), "$").startswith("$")


def read_stages(values: list[Any], at: Spot) -> list[Stage]:
    """Return a list of stages as it is.

    Raises: ProgramSyntaxError naming the first that is no object.
    """
    for number, stage in enumerate(values, 1):
        if not isinstance(stage, dict):
            raise syntax_error(f"stage {number} must be an object, not {type(stage).__name__}", at)
    return values


_FIND_OPTIONS: Final = frozenset({"projection", "sort", "limit", "skip"})


def _find(draft: _Draft, given: _Arguments) -> None:
    given.no_more(3)
    draft.is_find = True
    draft.filter = given.document(0, "filter")
    second = given.values[1] if len(given.values) > 1 else given.keywords.pop("projection", None)
    options = given.document(2, "options")
    if isinstance(second, dict) and _holds_options(cast("Stage", second)):
        second, options = None, {**cast("Stage", second), **options}
    if second is not None:
        _set_projection(draft, given, [second])
    _apply_options(draft, given, {**options, **given.keywords})


def _holds_options(document: Stage) -> bool:
    """Tell the options of a driver's find from a projection: they hold a document where a field would hold 0 or 1."""
    names = set(document)
    if not names or not names <= _FIND_OPTIONS | _IDLE | set(_REFUSED):
        return False
    shaped = isinstance(document.get("projection"), dict) or isinstance(document.get("sort"), dict | list)
    return shaped or any(document.get(name) not in (0, 1, True, False, None) for name in ("limit", "skip"))


def _find_one(draft: _Draft, given: _Arguments) -> None:
    if given.values and not isinstance(given.values[0], dict | None):
        given.values[0] = {"_id": given.values[0]}
    _find(draft, given)
    draft.limit = 1


def _count_documents(draft: _Draft, given: _Arguments) -> None:
    _find(draft, given)
    draft.projection = {}
    _count(draft)


def _count(draft: _Draft) -> None:
    draft.stages = [*(draft.found() if draft.is_find else draft.stages), {"$count": "count"}]
    draft.is_find, draft.is_done = False, True


def _estimated_count(draft: _Draft, given: _Arguments) -> None:
    _apply_options(draft, given, {**given.document(0, "options"), **given.keywords})
    _count(draft)


def _distinct(draft: _Draft, given: _Arguments) -> None:
    given.no_more(3)
    field_name = given.values[0] if given.values else given.keywords.pop("key", None)
    if not isinstance(field_name, str) or not field_name or field_name.startswith("$"):
        raise given.error("distinct takes the name of a field, without a dollar sign")
    if any(part.isdigit() or not part for part in field_name.split(".")):
        raise given.error("distinct of a place in an array is not read: use aggregate")
    condition = given.document(1, "filter")
    _apply_options(draft, given, {**given.document(2, "options"), **given.keywords})
    draft.stages = [*([{"$match": condition}] if condition else []), *_distinct_stages(field_name)]
    draft.is_done = True
    draft.note("the distinct values come back as rows with one column, value")


def _distinct_stages(name: str) -> list[Stage]:
    """Build what `distinct` does: arrays on the way and at the end give their items, a missing field gives nothing.

    `$unwind` would drop a stored null, which is a distinct value; hence it keeps everything, and what is missing is
    dropped afterwards.
    """
    parts = name.split(".")
    paths = [".".join(parts[: i + 1]) for i in range(len(parts))]
    unwound = [{"$unwind": {"path": f"${path}", "preserveNullAndEmptyArrays": True}} for path in paths if path != "_id"]
    return [
        *unwound,
        {"$match": {name: {"$exists": True}}},
        {"$group": {"_id": f"${name}"}},
        {"$project": {"_id": 0, "value": "$_id"}},
    ]


_FIRST: Final[Mapping[str, Callable[[_Draft, _Arguments], None]]] = {
    "aggregate": _aggregate,
    "find": _find,
    "findOne": _find_one,
    "find_one": _find_one,
    "countDocuments": _count_documents,
    "count_documents": _count_documents,
    "count": _count_documents,
    "estimatedDocumentCount": _estimated_count,
    "estimated_document_count": _estimated_count,
    "distinct": _distinct,
}


# --- the calls after it -----------------------------------------------------------------------------------------------


def _continue(draft: _Draft, method: Method) -> None:
    name = method.name
    if name in _DISPLAYS:
        return
    if name == "forEach" and all(type(node).__name__ in ("Name", "Member") for node in method.arguments):
        return  # forEach(printjson) shows the rows
    if name in _IDLE:
        draft.note(f"{name} is left out: limits and plans are set when the program runs")
    elif name in ("explain", "hasNext"):
        draft.note(f"{name} is left out: the query itself is read")
    elif draft.is_done:
        raise syntax_error(f"{name[:60]} cannot follow a count or distinct", method.at)
    elif name in ("count", "size", "itcount"):
        if name == "count" and draft.is_find and not _applies_skip_and_limit(method):
            draft.skip = draft.limit = 0  # a cursor's count looks at the filter alone, unless it is told otherwise
        _count(draft)
    elif name in _CURSOR:
        given = _Arguments(method, draft.constants)
        change = _CURSOR[name]
        change(draft, given, given.values)
        if not draft.is_find:
            draft.stages += draft.found()
            draft.sort, draft.skip, draft.limit, draft.projection = {}, 0, 0, {}
    elif name in ("next", "tryNext", "try_next"):
        draft.stages, draft.limit = [*draft.stages, *([] if draft.is_find else [{"$limit": 1}])], 1
    else:
        raise unsupported(method, (*_CURSOR, *_DISPLAYS, "count", "itcount"))


_DIRECTIONS: Final = {
    "1": 1, "asc": 1, "ascending": 1, "-1": -1, "desc": -1, "descending": -1,
}  # fmt: skip


def _set_sort(draft: _Draft, given: _Arguments, values: list[Any]) -> None:
    pairs = _sort_pairs(given, values)
    draft.sort = {name: _direction(given, value) for name, value in pairs}


def _sort_pairs(given: _Arguments, values: list[Any]) -> list[tuple[str, Any]]:
    first = values[0] if values else None
    if first is None:
        return []
    if isinstance(first, str):
        return [_sort_pair(given, values)] if len(values) > 1 else _sort_words(first)
    if isinstance(first, dict) and len(values) == 1:
        return list(cast("Stage", first).items())
    if isinstance(first, list) and len(values) == 1:
        return [_sort_pair(given, item) for item in cast("list[Any]", first)]
    raise given.error("sort takes an object of fields and directions")


def _sort_words(text: str) -> list[tuple[str, Any]]:
    """Read "-age" and "name -age" as an object mapper does; without a minus, the text is the name of one field."""
    words = text.split() if re.search(r"(?:^|\s)-\w", text) else [text]
    return [(word.removeprefix("-"), -1 if word.startswith("-") else 1) for word in words]


def _sort_pair(given: _Arguments, item: Any) -> tuple[str, Any]:
    parts = cast("list[Any]", item) if isinstance(item, list) else [item]
    if not 1 <= len(parts) <= 2 or not isinstance(parts[0], str):
        raise given.error("sort takes pairs of a field and a direction")
    return parts[0], parts[1] if len(parts) == 2 else 1


def _direction(given: _Arguments, value: Any) -> Any:
    if isinstance(value, dict):
        return cast("Stage", value)  # {"$meta": "textScore"}
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    direction = None if isinstance(value, bool) else _DIRECTIONS.get(str(value).lower())
    if direction is None:
        raise given.error(f"a sort direction is 1 or -1, not {str(value)[:40]}")
    return direction


def _set_skip(draft: _Draft, given: _Arguments, values: list[Any]) -> None:
    draft.skip = given.whole(values[0] if len(values) == 1 else None)
    if draft.skip < 0:
        raise given.error("skip takes a number from 0")


def _set_limit(draft: _Draft, given: _Arguments, values: list[Any]) -> None:
    # 0 is no limit; a negative one is the same number in a single batch.
    draft.limit = abs(given.whole(values[0] if len(values) == 1 else None))


def _set_projection(draft: _Draft, given: _Arguments, values: list[Any]) -> None:
    value = values[0] if values else None
    if isinstance(value, list):
        names = cast("list[Any]", value)
        if not all(isinstance(name, str) for name in names):
            raise given.error("a projection lists field names")
        draft.projection = {str(name): 1 for name in names}
        return
    draft.projection = given.as_document(value, "projection")
    check_projection(draft.projection, given.at)


_CURSOR: Final[Mapping[str, Callable[[_Draft, _Arguments, list[Any]], None]]] = {
    "sort": _set_sort,
    "skip": _set_skip,
    "limit": _set_limit,
    "project": _set_projection,
    "projection": _set_projection,
}
_CURSOR_OPTIONS: Final = {name: change for name, change in _CURSOR.items() if name != "project"}
