"""The form of a world's specification: its sources, its collections, and how the one becomes the other."""

from __future__ import annotations

from typing import Annotated, Any, Final, Literal, TypeAlias

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, model_validator

Type: TypeAlias = Literal["text", "int", "number", "decimal", "bool", "date", "object_id"]
Match: TypeAlias = dict[str, str]
"""Their field -> ours: rows of the other source that agree with the row at hand."""


WAYS: Final = ("take", "text", "size", "each", "entries", "array", "map", "embed", "count", "python")


class Strict(BaseModel):
    """A part of a specification; a key it does not know is an error."""

    model_config = ConfigDict(extra="forbid", frozen=True)


class Source(Strict):
    """Where rows come from: exactly one of csv, tsv, sqlite, json, folder.

    Shape: `pointer` (RFC 6901) leads into a JSON file; `entries` turns an object into rows of `key` and `value`, a list
    of objects is rows as it is. `each` makes a row of every item of an array in the rows; each knows its `parent`.
    `folder` holds one JSON file per name in `names`; each row knows its file as `file`.
    """

    csv: str = ""
    tsv: str = ""
    sqlite: str = ""
    table: str = ""
    json_file: str = Field("", alias="json")
    folder: str = ""
    names: tuple[str, ...] = ()
    pointer: str = ""
    entries: bool = False
    each: str = ""

    @model_validator(mode="after")
    def _one_kind(self) -> Source:
        given = [name for name in ("csv", "tsv", "sqlite", "json_file", "folder") if getattr(self, name)]
        if len(given) != 1:
            raise ValueError("a source has one of csv, tsv, sqlite, json, folder")
        if self.sqlite and not self.table:
            raise ValueError("a sqlite source names its table")
        if self.folder and not ("{name}" in self.folder and self.names):
            raise ValueError("a folder is written with {name}, such as {name}/data.json, and lists its names")
        return self


def _as_take(given: Any) -> Any:
    return {"take": given} if isinstance(given, str) else given


class Value(Strict):
    """How one field comes about.

    Shape: one of
    `take`: a column, or a pointer into the row when it starts with a slash;
    `value`: a constant; `text`: a text with columns in braces; `size`: how many items what is taken has;
    `fields`: a record of its own;
    `each`, `entries`: what becomes of the items of an array, or the entries of an object, in the row;
    `array`, `map`, `embed`, `count`: rows of another source that `match`, as items, as entries, the first, or counted;
    `python`: module:function, called with the row and the sources.
    Of joined rows, items and entries, `fields` make records and `pick` takes one column. `key` names a map's keys.
    `split` parts a text and `at` picks one part. `keep`, `rename` and `strip` choose and rename the keys of an object.
    `missing` says what becomes of an absent value, `empty` of an empty text, array or object.
    """

    take: str = ""
    value: Any = None
    text: str = ""
    size: str = ""
    pick: str = ""
    at: int | None = None
    fields: dict[str, Annotated[Value, BeforeValidator(_as_take)]] = {}
    each: str = ""
    entries: str = ""
    array: str = ""
    map: str = ""
    embed: str = ""
    count: str = ""
    python: str = ""
    match: Match = {}
    key: str = ""
    sort: tuple[str, ...] = ()
    type: Type | None = None
    split: str = ""
    keep: tuple[str, ...] = ()
    rename: dict[str, str] = {}
    strip: str = ""
    missing: Literal["omit", "null"] = "omit"
    empty: Literal["keep", "omit", "null"] = "keep"

    @model_validator(mode="after")
    def _one_way(self) -> Value:
        given = [n for n in WAYS if getattr(self, n)]
        given += ["value"] if "value" in self.model_fields_set else []
        if len(given) + (not given and bool(self.fields)) != 1:
            raise ValueError(f"a field has one of value, fields, {', '.join(WAYS)}")
        if self.map and not self.key:
            raise ValueError("a map names the column of its keys as key")
        return self

    @property
    def joined(self) -> str:
        """The other source that it draws on, or nothing."""
        return self.array or self.map or self.embed or self.count


class Variant(Strict):
    """Fields that only the rows have whose columns hold these values: one shape of a polymorphic collection."""

    when: dict[str, Any]
    fields: dict[str, Annotated[Value, BeforeValidator(_as_take)]]


class Collection(Strict):
    """One collection: a source whose rows become documents, or a function that gives them.

    Shape: `where` keeps rows by column -> value, list of values, `starts` with a list of beginnings, or `exists`;
    `sort` orders them by columns, else they stay in source order. `also` draws further documents from other sources,
    behind the first.
    """

    source: str = Field("", alias="from")
    where: dict[str, Any] = {}
    sort: tuple[str, ...] = ()
    fields: dict[str, Annotated[Value, BeforeValidator(_as_take)]] = {}
    variants: tuple[Variant, ...] = ()
    also: tuple[Collection, ...] = ()
    python: str = ""

    @model_validator(mode="after")
    def _one_way(self) -> Collection:
        if bool(self.source) == bool(self.python):
            raise ValueError("a collection has either from (a source) or python (a function)")
        if self.source and not self.fields:
            raise ValueError("a collection that is drawn from a source has fields")
        return self


class WorldSpec(Strict):
    """A world: what it is made of and what it holds."""

    world: str
    title: str
    licence: str
    packages: tuple[str, ...] = ()
    """What to download, each in the words of its package manager."""
    sources: dict[str, Source] = {}
    collections: dict[str, Collection]
    tasks: str = ""
    """A file of tasks beside the specification, in the lean record form."""
