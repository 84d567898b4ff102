# ruff: noqa: E501 - tables of text and what it means
from __future__ import annotations

import datetime as dt
import json
from pathlib import Path
from typing import Any

import bson
import pytest
from bson import Binary, DatetimeMS, DBRef, Decimal128, Int64, MaxKey, MinKey, ObjectId, Regex, Timestamp, json_util

from groundql.errors import ProgramSyntaxError
from groundql.languages.mongosh import parse_pipeline, parse_program, read_query
from groundql.languages.writing import to_ejson, to_shell

SHARED = Path(__file__).parents[3].parent / "shared"
NOW = dt.datetime(2026, 11, 30, 12, tzinfo=dt.UTC)
OID = ObjectId("507f1f77bcf86cd799439011")


def read(text: str, **options: Any) -> tuple[str, list[Any]]:
    program = parse_program(text, now=NOW, **options)
    return program.container, list(program.stages)


def failure(text: str, **options: Any) -> ProgramSyntaxError:
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_program(text, **options)
    return caught.value


MATCH = [{"$match": {"a": 1}}]


@pytest.mark.parametrize(
    ("text", "container"),
    [
        ("db.c.aggregate([{$match: {a: 1}}])", "c"),
        ("db.c.aggregate([{'$match': {'a': 1,},},],);", "c"),
        ("db.c.aggregate({$match: {a: 1}})", "c"),
        ("db.c.aggregate([{$match: {a: 1}}], {allowDiskUse: true, maxTimeMS: 5})", "c"),
        ("db.getCollection('my.coll').aggregate([{$match: {a: 1}}])", "my.coll"),
        ("db.my.coll.find({a: 1})", "my.coll"),
        ('db["x y"].find({a: 1})', "x y"),
        ("db['my.coll'].find({a: 1}).toArray()", "my.coll"),
        ("db.c.find({a: 1}).pretty()", "c"),
        ("db.c.find({a: 0x1})", "c"),
        ("db . c\n  // why\n  .find( /* all */ { a : 1 } )\n", "c"),
        ("const stages = [{$match: {a: 1}}];\ndb.c.aggregate(stages)", "c"),
        ("let m = {a: 1}; var s = [{$match: m}]; db.c.aggregate(s);", "c"),
        ("const first = {$match: {a: 1}}; const all = [first]; db.c.aggregate([...all])", "c"),
        ("const cursor = db.c.find({a: 1}); cursor.toArray()", "c"),
        ("const rows = await db.collection('c').find({a: 1}).toArray(); console.log(rows)", "c"),
        ("use comics\ndb.c.find({a: 1})", "c"),
        ("use comics;\n\ndb.getCollection('c').find({a: 1})", "c"),
        ("comics> db.c.find({a: 1})", "c"),
        ("printjson(db.c.find({a: 1}).toArray())", "c"),
        ("db.c.find({a: 1}).forEach(printjson)", "c"),
        ('{"collection": "c", "pipeline": [{"$match": {"a": 1}}]}', "c"),
        ('{"aggregate": "c", "pipeline": [{"$match": {"a": 1}}], "cursor": {}}', "c"),
        ("[{$match: {a: 1}}]", "given"),
        ("{$match: {a: 1}}", "given"),
        ("pipeline = [{'$match': {'a': 1}}]", "given"),
        ("```js\ndb.c.find({a: 1})\n```", "c"),
        ("Sure! This finds them:\n\n```javascript\ndb.c.find({a: 1})\n```\n\nIt uses `db.c`.", "c"),
        ("The query is: db.c.find({a: 1})", "c"),
        ("Here you go:\n\ndb.c.find({\n  a: 1\n})\n\nThis matches everything on db.c with a = 1.", "c"),
        ("Use `db.c.find({a: 1})` for that.", "c"),
        ("Reading db.c as you asked, with db.c.find({a: 1})", "c"),
        ("db['c'].aggregate([{'$match': {'a': 1}}], allowDiskUse=True)", "c"),
        ("from pymongo import MongoClient\nclient = MongoClient('mongodb://x')\nclient['db']['c'].find({'a': 1})", "c"),
        ("client = MongoClient()\ndb = client.shop\nfor d in db.c.find({'a': 1}):\n    print(d)", "c"),
        ("import pymongo\n# comment\ncoll = db.get_collection('c')\nprint(list(coll.find({'a': 1})))", "c"),
        ("MATCH = {'a': 1}\nrows = list(db.c.find(MATCH))", "c"),
    ],
)
def test_every_way_of_pasting_the_same_query_reads_the_same(text: str, container: str) -> None:
    assert read(text, container="given") == (container, MATCH)


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ("db.c.find()", []),
        ("db.c.find({})", []),
        ("db.c.aggregate()", []),
        ("db.c.find({a: 1}, {b: 1, _id: 0})", [*MATCH, {"$project": {"b": 1, "_id": 0}}]),
        ("db.c.find({}, {}, {sort: {a: 1}})", [{"$sort": {"a": 1}}]),
        ("db.c.find({a: 1}, {projection: {b: 1}, limit: 2})", [*MATCH, {"$limit": 2}, {"$project": {"b": 1}}]),
        ("db.c.find({a: 1}, {limit: 1, sort: 1})", [*MATCH, {"$project": {"limit": 1, "sort": 1}}]),
        (
            "db.c.find({a: 1}).limit(5).project({b: 1}).sort({c: -1}).skip(2)",
            [*MATCH, {"$sort": {"c": -1}}, {"$skip": 2}, {"$limit": 5}, {"$project": {"b": 1}}],
        ),
        ("db.c.find({a: 1}, {s: {$meta: 'textScore'}})", [*MATCH, {"$addFields": {"s": {"$meta": "textScore"}}}]),
        (
            "db.c.find({a: 1}, {_id: 1, s: {$meta: 'textScore'}})",
            [*MATCH, {"$project": {"_id": 1, "s": {"$meta": "textScore"}}}],
        ),
        ("db.c.find().limit(0)", []),
        ("db.c.find().limit(-3)", [{"$limit": 3}]),
        ("db.c.find().sort('a', -1)", [{"$sort": {"a": -1}}]),
        ("db.c.find().sort([('a', pymongo.DESCENDING), ('b', 1)])", [{"$sort": {"a": -1, "b": 1}}]),
        ("db.c.find({'a': 1}, ['b', 'c'], sort=[('b', 1)], limit=3)",
         [*MATCH, {"$sort": {"b": 1}}, {"$limit": 3}, {"$project": {"b": 1, "c": 1}}]),
        ("db.c.findOne({a: 1}, {b: 1})", [*MATCH, {"$limit": 1}, {"$project": {"b": 1}}]),
        ("db.c.find_one({'a': 1})", [*MATCH, {"$limit": 1}]),
        (f"db.c.findOne(ObjectId('{OID}'))", [{"$match": {"_id": OID}}, {"$limit": 1}]),
        ("db.c.countDocuments({a: 1})", [*MATCH, {"$count": "count"}]),
        ("db.c.countDocuments({a: 1}, {limit: 5, hint: 'a_1'})", [*MATCH, {"$limit": 5}, {"$count": "count"}]),
        ("db.c.count()", [{"$count": "count"}]),
        ("db.c.estimatedDocumentCount()", [{"$count": "count"}]),
        ("db.c.find({a: 1}).limit(3).count()", [*MATCH, {"$count": "count"}]),
        ("db.c.find({a: 1}).limit(3).itcount()", [*MATCH, {"$limit": 3}, {"$count": "count"}]),
        ("db.c.aggregate([{$match: {a: 1}}]).limit(5)", [*MATCH, {"$limit": 5}]),
        ("db.c.aggregate([{$limit: 9}]).sort({a: 1}).limit(5)", [{"$limit": 9}, {"$sort": {"a": 1}}, {"$limit": 5}]),
        ("db.c.aggregate([{$match: {a: 1}}]).itcount()", [*MATCH, {"$count": "count"}]),
        ("db.c.find({a: 1}).explain('executionStats')", MATCH),
        ("db.c.find({a: {$regex: /^x/i}})", [{"$match": {"a": {"$regex": Regex("^x", "i")}}}]),
        ('db.c.find({"a": "x]y)}"})', [{"$match": {"a": "x]y)}"}}]),
        ("db.c.find({$where: 'x'})", [{"$match": {"$where": "x"}}]),
    ],
    ids=str,
)  # fmt: skip
def test_methods_become_equivalent_stages(text: str, stages: list[Any]) -> None:
    assert read(text) == ("c", stages)


DAY_MS = 24 * 60 * 60 * 1000
JAN_1 = dt.datetime(2024, 1, 1)


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("1", 1), ("-1", -1), ("1.5", 1.5), ("5.0", 5.0), ("1e3", 1000.0), (".5", 0.5), ("0x1F", 31), ("1_000", 1000), ("-0.0", -0.0),
        ("Infinity", float("inf")), ("-Infinity", float("-inf")), ("9007199254740993", 9007199254740993),
        ("24*60*60*1000", DAY_MS), ("(1 + 2) * 3", 9), ("7 / 2", 3.5), ("6 / 2", 3), ("2 ** 10", 1024), ("-7 % 3", -1),
        ("'a' + \"b\"", "ab"), ("`plain`", "plain"), (r"'it\'s \u00e9\x41\u{1F600}\n'", "it's éA😀\n"), (r"'\ud83d\ude00'", "😀"),
        ("true", True), ("null", None), ("None", None), ("False", False), ("[1, [2,],]", [1, [2]]), ("{'x y': {}}", {"x y": {}}),
        ("ISODate('2024-01-01')", JAN_1), ("new ISODate('2024-01-01T00:00:00Z')", JAN_1), ("new Date('2024')", JAN_1),
        ("new Date('2024-01-01T02:00:00+02:00')", JAN_1), ("new Date(1704067200000)", JAN_1), ("new Date(2024, 0)", JAN_1),
        ("new Date(Date.UTC(2023, 12, 1))", JAN_1), ("ISODate('2024-01-01T00:00:00.123456Z')", JAN_1.replace(microsecond=123000)),
        ("new Date(ISODate('2024-01-02') - 24*60*60*1000)", JAN_1), ("new Date(8.64e15)", DatetimeMS(8_640_000_000_000_000)),
        ("new Date()", NOW.replace(tzinfo=None)), ("new Date(Date.now() - 86400000)", dt.datetime(2026, 11, 29, 12)),
        ("datetime.datetime(2024, 1, 1)", JAN_1), ("datetime(2024, 1, 1, tzinfo=timezone.utc)", JAN_1),
        ("dt.datetime.fromisoformat('2024-01-01')", JAN_1), ("datetime(2024, 1, 8) - timedelta(days=7)", JAN_1),
        ("datetime.datetime.now() - datetime.timedelta(hours=12)", dt.datetime(2026, 11, 30)),
        (f"ObjectId('{OID}')", OID), (f"new ObjectId(\"{OID}\")", OID), (f"bson.ObjectId('{OID}')", OID),
        ("NumberLong('5')", Int64(5)), ("NumberLong(5)", Int64(5)), ("Long.fromString('-5')", Int64(-5)), ("NumberInt(5)", 5),
        ("NumberInt('5')", 5), ("NumberDecimal('1.10')", Decimal128("1.10")), ("Decimal128('1E+3')", Decimal128("1E+3")),
        ("UUID('00112233-4455-6677-8899-aabbccddeeff')", Binary(bytes.fromhex("00112233445566778899aabbccddeeff"), 4)),
        ("BinData(0, 'aGk=')", b"hi"), ("BinData(128, 'aGk=')", Binary(b"hi", 128)), ("HexData(0, '6869')", b"hi"),
        ("Timestamp(1, 2)", Timestamp(1, 2)), ("Timestamp({t: 1, i: 2})", Timestamp(1, 2)), ("MinKey()", MinKey()), ("MaxKey", MaxKey()),
        ("/a\\/b\\d/gim", Regex("a/b\\d", "im")), ("new RegExp('a', 'i')", Regex("a", "i")),
        ("re.compile('^a', re.I | re.MULTILINE)", Regex("^a", "im")), ("DBRef('d', 1)", DBRef("d", 1)),
        ("SON([('a', 1), ('b', -1)])", {"a": 1, "b": -1}),
        (f'{{"$oid": "{OID}"}}', OID), ('{"$date": "2024-01-01T00:00:00Z"}', JAN_1), ('{$date: {$numberLong: "1704067200000"}}', JAN_1),
        ('{"$numberDecimal": "1.10"}', Decimal128("1.10")), ('{"$numberDouble": "5"}', 5.0), ('{"$numberInt": "5"}', 5),
        ('{"$regularExpression": {"pattern": "a", "options": "i"}}', Regex("a", "i")),
        ('{"$binary": {"base64": "aGk=", "subType": "80"}}', Binary(b"hi", 128)), ('{"$binary": "aGk=", "$type": "00"}', b"hi"),
        ('{"$timestamp": {"t": 1, "i": 2}}', Timestamp(1, 2)), ('{"$minKey": 1}', MinKey()),
        ('{"$regex": "a", "$options": "i"}', {"$regex": "a", "$options": "i"}), ('{"$oid": 1, "x": 2}', {"$oid": 1, "x": 2}),
    ],
    ids=str,
)  # fmt: skip
def test_values_are_read_with_their_stored_type(text: str, value: Any) -> None:
    stages = read(f"db.c.find({{'a': {text}}})")[1]
    assert bson.encode({"": stages}) == bson.encode({"": [{"$match": {"a": value}}]})


def test_python_escapes_are_pythons() -> None:
    assert read("db['c'].find({'a': r'\\d', 'b': None, 'c': '\\U0001F600' 'x'})")[1] == [
        {"$match": {"a": "\\d", "b": None, "c": "😀x"}}
    ]
    assert read("db['c'].find({'a': '\\d', 'b': None})")[1] == [{"$match": {"a": "\\d", "b": None}}]
    assert read("db['c'].find({'a': '\\d'})")[1] == [{"$match": {"a": "d"}}]


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("", (0, 0), "empty"),
        ("hello world", (0, 0), "no query"),
        ("db.c", (1, 1), "no query"),
        ("db.c.find({a: 1}", (1, 10), "'(' is never closed"),
        (
            "db.c.aggregate([\n  {$match: {a: 1}\n])",
            (3, 1),
            "expected '}' to close the '{' of line 2, column 3, found ']'",
        ),
        ("db.c.find({a: 1}))", (1, 18), "')' closes nothing"),
        ("db.c.aggregate([{$limit: 1} {$limit: 2}])", (1, 29), "expected ','"),
        ("db.c.find({a: })", (1, 14), "expected a value"),
        ("db.c.find({a: 1 ? 2 : 3})", (1, 15), "cannot stand in a query"),
        ("db.c.insertOne({a: 1})", (1, 6), "insertOne writes"),
        ("db.c.deleteMany({})", (1, 6), "deleteMany writes"),
        ("db.c.update_many({}, {})", (1, 6), "update_many writes"),
        ("db.c.drop()", (1, 6), "drop writes"),
        ("db.c.find({}).remove()", (1, 15), "remove writes"),
        ("db.c.findOneAndDelete({})", (1, 6), "writes"),
        ("db.c.mapReduce(1, 2)", (1, 6), "runs code"),
        ("db.c.find().map(x)", (1, 13), "runs code"),
        ("db.c.watch()", (1, 6), "never ends"),
        ("db.c.aggregat([])", (1, 6), "not a method"),
        ("db.dropDatabase()", (1, 4), "dropDatabase writes"),
        ("db.runCommand({aggregate: 'c'})", (1, 15), "has no pipeline"),
        ("db.adminCommand('x')", (1, 17), "the command x may write"),
        ("db.aggregate([{$currentOp: {}}])", (1, 4), "no read of a collection"),
        ("db.c.find({a: function() { return 1 }})", (1, 15), "functions are not read"),
        ("db.c.find({a: x => 1})", (1, 15), "functions are not read"),
        ("db.c.find().forEach(d => db.c.drop())", (1, 21), "functions are not read"),
        ("db.c.find().forEach(d => {\n  db.d.find({x: 1})\n})", (1, 21), "functions are not read"),
        ("db.c.find({a: (lambda: 1)})", (1, 0), ""),
        ("db.c.find({a: `x${1}`})", (1, 15), "template string"),
        ("db.c.find({a: other})", (1, 15), "other has no value"),
        ("db.c.find({a: process.exit()})", (1, 15), "process.exit(...) is not a value"),
        ("db.c.find({a: require('fs').readFileSync('x')})", (1, 15), "is not a value"),
        ("db.c.find({a: undefined})", (1, 15), "undefined"),
        ("db.c.find({a: 1, a: 2})", (1, 18), "occurs twice"),
        ("db.c.find({a: ObjectId('x')})", (1, 15), "24 hexadecimal digits"),
        ("db.c.find({a: ISODate('yesterday')})", (1, 15), "is not a date"),
        ("db.c.find({a: Date('2020')})", (1, 15), "without new"),
        ("db.c.find({a: NumberLong('99999999999999999999')})", (1, 15), "64-bit"),
        ("db.c.find({a: NumberInt(3000000000)})", (1, 15), "32-bit"),
        ("db.c.find({a: NumberDecimal('x')})", (1, 15), "decimal"),
        ("db.c.find({a: new RegExp('a', 'q')})", (1, 15), "flag"),
        ("db.c.find({a: Code('x')})", (1, 15), "JavaScript code"),
        ("db.c.find({a: {$code: 'x'}})", (1, 15), "JavaScript code"),
        ("db.c.find({a: 1 / 0})", (1, 15), "division by zero"),
        ("db.c.find({a: 99999999999999999999})", (0, 0), "64 bits"),
        ("db.c.find({a: 010})", (1, 15), "leading zeros"),
        ("db.c.find().collation({locale: 'en'})", (1, 13), "collation"),
        ("db.c.aggregate([], {let: {x: 1}})", (1, 6), "let"),
        ("db.c.aggregate([], {nope: 1})", (1, 6), "nope is not an option"),
        ("db.c.aggregate([1])", (1, 6), "stage 1 must be an object"),
        ("db.c.find('a')", (1, 6), "is an object"),
        ("db.c.find().sort({a: 'up'})", (1, 13), "direction"),
        ("db.c.find().limit('x')", (1, 13), "whole number"),
        ("db.c.find({}, {'a.b': {$slice: 1}})", (1, 6), "nested field"),
        ("db.c.find({}, {a: {$slice: 1.5}})", (1, 6), "whole number"),
        ("db.c.find({}, {a: {$slice: [1, 0]}})", (1, 6), "at least one"),
        ("db.c.find({}, {_id: 1, a: {$slice: 1}})", (1, 6), "not clear"),
        ("db.c.find({}, {a: {$elemMatch: {b: 1}}})", (1, 6), "a: $elemMatch in a find's projection"),
        ("db.c.find({'a.b': 1}, {'a.$': 1})", (1, 6), "the first item that the filter matched"),
        ("db.c.find()[0]", (1, 13), "single item"),
        ("db.c.find().length", (1, 13), ".length"),
        ("db.a.find(); db.b.find()", (1, 19), "more than one query"),
        ("db.c.find(); db.c.drop()", (1, 19), "drop writes"),
        ("db.getSiblingDB('x').c.find()", (1, 24), "the database x"),
        ("const a = b; const b = a; db.c.find({x: a})", (1, 24), "defined by itself"),
        ("while (true) {}", (1, 1), "is not read"),
        ("[{$match: {}}]", (1, 1), "does not say which collection"),
        ("Here:\n\n```js\ndb.c.find({a: 1)\n```", (4, 16), "expected '}'"),
        ("db.c.find({a: “x})", (1, 15), "typographic quotes"),
        ("db.c.find({'é😀名': x})", (1, 19), "x has no value"),
        ("See this: db.c.insertOne({})", (1, 16), "insertOne writes"),
    ],
)
def test_errors_say_where_and_what(text: str, place: tuple[int, int], says: str) -> None:
    error = failure(text)
    assert says in str(error)
    assert "\n" not in str(error)
    if place[1] or not place[0]:
        assert (error.line, error.column) == place
    if error.line:
        assert str(error).startswith(f"line {error.line}, column {error.column}: ")


def test_another_database_is_refused_and_the_same_one_is_not() -> None:
    assert read("use comics\ndb.c.find({a: 1})", database="comics") == ("c", MATCH)
    assert read("db.getSiblingDB('comics').c.find({a: 1})", database="comics") == ("c", MATCH)
    assert read("client.comics.c.find({'a': 1})", database="comics") == ("c", MATCH)
    assert "the database admin" in str(failure("use admin\ndb.c.find()", database="comics"))
    assert "the database admin" in str(failure("db.getSiblingDB('admin').c.find()", database="comics"))
    assert "the database admin" in str(failure("client['admin']['c'].find()", database="comics"))


def test_what_is_left_out_is_noted() -> None:
    notes = read_query("db.c.find().maxTimeMS(5).hint('a_1').explain()").notes
    assert [note.split(" ")[0] for note in notes] == ["maxTimeMS", "hint", "explain"]
    assert "column, value" in read_query("db.c.distinct('a')").notes[0]


def test_names_cannot_multiply_a_small_text_into_a_large_program() -> None:
    lines = ["const a0 = [1, 1, 1, 1]", *(f"const a{i + 1} = [a{i}, a{i}, a{i}, a{i}]" for i in range(15))]
    assert "too large" in str(failure(";".join([*lines, "db.c.find({x: a15})"])))
    doubled = ["s0 = 'xxxxxxxxxx'", *(f"s{i + 1} = s{i} + s{i}" for i in range(40))]
    assert "too" in str(failure("\n".join([*doubled, "db.c.find({'x': s40})"])))


@pytest.mark.parametrize("text", [
    "db.c.find({a: " + "[" * 100_000 + "]" * 100_000 + "})",
    "db.c.find({a: " + "{a:" * 5_000 + "1" + "}" * 5_000 + "})",
    "db.c.find({a: " + "-" * 50_000 + "1})",
    "db.c.find({a: " + "1+" * 50_000 + "1})",
    "db.c.find()" + ".limit(1)" * 20_000,
    "(" * 100_000,
    "[" * 100_000,
    "`" * 5_000,
    "db." * 20_000,
], ids=lambda t: t[:24])  # fmt: skip
def test_deep_or_endless_text_is_an_error_and_no_crash(text: str) -> None:
    failure(text)


def test_exponents_do_not_run_away() -> None:
    assert "too large" in str(failure("db.c.find({a: 9 ** 9 ** 9})"))


def test_pipelines_of_decoded_json_become_bson() -> None:
    stages = parse_pipeline(
        [{"$match": {"_id": {"$oid": str(OID)}, "at": {"$gte": {"$date": "2024-01-01T00:00:00Z"}},
                     "n": {"$regex": "x", "$options": "i"}, "d": {"$in": [{"$numberDecimal": "1.10"}]}}},
         {"$limit": 5}]
    )  # fmt: skip
    assert stages == (
        {"$match": {"_id": OID, "at": {"$gte": JAN_1}, "n": {"$regex": "x", "$options": "i"},
                    "d": {"$in": [Decimal128("1.10")]}}},
        {"$limit": 5},
    )  # fmt: skip
    assert parse_pipeline({"$limit": 1}) == ({"$limit": 1},)
    assert parse_pipeline("[{$limit: 1}]") == ({"$limit": 1},)


@pytest.mark.parametrize(
    ("value", "says"),
    [
        (3, "list of stages"), (None, "list of stages"), ([1], "stage 1 must be an object"), ([{1: 2}], "key must be text"),
        ([{"$limit": 1}, {"$match": {"_id": {"$oid": "x"}}}], "stage 2: an ObjectId"),
        ([{"$match": {"a": {"$date": "soon"}}}], "stage 1: 'soon' is not a date"), ([{"$match": object()}], "object"),
    ],
)  # fmt: skip
def test_wrong_pipelines_name_the_stage(value: Any, says: str) -> None:
    with pytest.raises(ProgramSyntaxError, match=says):
        parse_pipeline(value)


def test_every_gold_and_every_conformance_pipeline_survives_its_written_forms() -> None:
    tasks, cases = SHARED / "data" / "superhero" / "tasks.jsonl", SHARED / "engine" / "cases.json"
    if not tasks.exists() or not cases.exists():
        pytest.skip(f"{SHARED} is not here")
    for line in tasks.read_text("utf-8").splitlines():
        program = parse_program(json.loads(line)["MQL"])
        assert program == parse_program(to_shell(program)) == parse_program(to_ejson(program))
    for case in json_util.loads(cases.read_text("utf-8")):
        if not all(isinstance(stage, dict) for stage in case["pipeline"]) or "js_refused" in case["name"]:
            continue
        stages = parse_pipeline(
            json.loads(json_util.dumps(case["pipeline"], json_options=json_util.CANONICAL_JSON_OPTIONS))
        )
        text = to_shell(type(program)("c", stages))
        assert bson.encode({"": list(parse_program(text).stages)}) == bson.encode({"": list(stages)}), case["name"]


def test_a_shells_continuation_dots_are_no_part_of_the_query() -> None:
    pasted = "shop> db.orders.aggregate([\n... {$match: {a: 1}},\n... ])\n"
    assert parse_program(pasted) == parse_program("db.orders.aggregate([{$match: {a: 1}}])")


@pytest.mark.parametrize(
    "text",
    [
        "x = db.orders.deleteMany({}); db.customers.find({})",
        "f(db.orders.deleteMany({})); db.customers.find({})",
        "db.customers.find({}); const y = db.orders.drop()",
        'const r = db["orders"].insertOne({a: 1})\ndb.customers.aggregate([])',
        'result = db.orders.delete_many({})\nlist(db.customers.find({"a": True}))',
    ],
)
def test_a_write_beside_a_query_is_refused_not_passed_over(text: str) -> None:
    with pytest.raises(ProgramSyntaxError, match="only reads are accepted"):
        parse_program(text)


def test_text_that_mentions_a_write_is_no_write() -> None:
    parse_program("db.logs.find({call: 'db.orders.deleteMany({})', drop: true}) // db.orders.drop()")


@pytest.mark.parametrize(("text", "limited"), [(".count(true)", True), (".count()", False), (".count(false)", False)])
def test_a_cursors_count_takes_its_limit_when_told_to(text: str, limited: bool) -> None:
    stages = parse_program(f"db.orders.find({{a: 1}}).limit(5){text}").stages
    assert ({"$limit": 5} in stages) is limited


@pytest.mark.parametrize(
    ("projection", "stages"),
    [
        ("{a: {$slice: 2}}", [{"$addFields": {"a": ["$a", 2]}}]),
        ("{a: {$slice: -2}, _id: 0}", [{"$addFields": {"a": ["$a", -2]}}, {"$project": {"_id": 0}}]),
        ("{a: {$slice: [1, 3]}, b: 0}", [{"$addFields": {"a": ["$a", 1, 3]}}, {"$project": {"b": 0}}]),
        ("{b: 1, a: {$slice: 2}}", [{"$project": {"b": 1, "a": ["$a", 2]}}]),
    ],
)
def test_a_finds_slice_becomes_a_part_of_the_array_and_leaves_other_fields_as_they_were(
    projection: str, stages: list[Any]
) -> None:
    def written(value: Any) -> Any:
        is_slice = isinstance(value, list) and value[0] == "$a"
        return {"$cond": [{"$isArray": ["$a"]}, {"$slice": value}, "$a"]} if is_slice else value

    expected = [{name: {f: written(v) for f, v in shown.items()} for name, shown in s.items()} for s in stages]
    assert read(f"db.c.find({{}}, {projection})") == ("c", expected)


def test_an_aggregations_slice_in_a_find_stays_one() -> None:
    assert read("db.c.find({}, {a: {$slice: ['$b', 1]}})")[1] == [{"$project": {"a": {"$slice": ["$b", 1]}}}]


FOUND = [*MATCH, {"$sort": {"b": -1}}, {"$limit": 5}, {"$project": {"a": 1}}]


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ('{"find": "c", "filter": {"a": 1}, "sort": {"b": -1}, "limit": 5, "projection": {"a": 1}}', FOUND),
        ('db.runCommand({find: "c", filter: {a: 1}, sort: {b: -1}, limit: 5, projection: {a: 1}})', FOUND),
        ('db.command("find", "c", filter={"a": 1}, sort={"b": -1}, limit=5, projection={"a": 1})', FOUND),
        ('{"aggregate": "c", "pipeline": [{"$match": {"a": 1}}], "cursor": {}, "lsid": {"id": 1}}', MATCH),
        ('const p = [{$match: {a: 1}}]; db.runCommand({aggregate: "c", pipeline: p, cursor: {}})', MATCH),
        ('db.runCommand({aggregate: "c", pipeline: [{$match: {a: 1}}], cursor: {}}).cursor.firstBatch', MATCH),
        ('{"count": "c", "query": {"a": 1}}', [*MATCH, {"$count": "count"}]),
        ('db.runCommand({explain: {find: "c", filter: {a: 1}}, verbosity: "queryPlanner"})', MATCH),
        ('{"ns": "s.c", "command": {"find": "c", "filter": {"a": 1}}, "millis": 9}', MATCH),
        ('{"msg": "Slow query", "attr": {"ns": "s.c", "command": {"find": "c", "filter": {"a": 1}}}}', MATCH),
    ],
)
def test_a_command_that_reads_is_the_query_it_stands_for(text: str, stages: list[Any]) -> None:
    assert read(text) == ("c", stages)


def test_a_distinct_command_is_the_distinct_of_a_collection() -> None:
    assert read('{"distinct": "c", "key": "k", "query": {"a": 1}}') == read("db.c.distinct('k', {a: 1})")


@pytest.mark.parametrize("options", ['{"find": "c", "filtre": {}}', '{"find": "c", "collation": {"locale": "en"}}'])
def test_an_option_that_a_command_does_not_have_is_refused(options: str) -> None:
    assert "filtre is not an option" in str(failure(options)) or "collation" in str(failure(options))


@pytest.mark.parametrize(
    ("text", "stages"),
    [
        ('{"a": 1}', MATCH),
        ("{a: 1}", MATCH),
        ("{'a': 1, 'b': None}", [{"$match": {"a": 1, "b": None}}]),
        ("{}", []),
        ('{"$or": [{"a": 1}]}', [{"$match": {"$or": [{"a": 1}]}}]),
        ('{"find": 1}', [{"$match": {"find": 1}}]),
        ('{"count": "many", "size": 5}', [{"$match": {"count": "many", "size": 5}}]),
        ('{"$match": {"a": 1}}', MATCH),
        ('{"pipeline": [{"$match": {"a": 1}}]}', MATCH),
    ],
)
def test_a_bare_filter_is_a_find_when_the_collection_is_named(text: str, stages: list[Any]) -> None:
    assert read(text, container="c") == ("c", stages)


def test_a_bare_filter_without_a_collection_is_told_to_name_one() -> None:
    assert "does not say which collection" in str(failure('{"a": 1}'))


@pytest.mark.parametrize(
    "text",
    [
        "db.runCommand({insert: 'c', documents: []})",
        "db.runCommand({delete: 'c', deletes: []})",
        "db.runCommand({findAndModify: 'c', remove: true})",
        "db.runCommand({mapReduce: 'c'})",
        "db.adminCommand({dropDatabase: 1})",
        "db.command('drop', 'c')",
        "f(db.runCommand({drop: 'c'})); db.c.find({})",
        "const it = {drop: 'c'}; const y = db.runCommand(it); db.c.find({})",
        "x = db.dropDatabase(); db.c.find({})",
        "const coll = db.c; const x = coll.deleteMany({}); db.d.find({})",
        "{insert: 'c', documents: []}",
    ],
)
def test_a_command_that_is_no_read_is_refused_wherever_it_stands(text: str) -> None:
    assert "only reads are accepted" in str(failure(text))


def test_explain_before_the_query_is_left_out_as_after_it() -> None:
    assert read("db.c.explain('executionStats').find({a: 1})") == ("c", MATCH)


def test_a_sort_written_with_a_minus_goes_down() -> None:
    assert read("db.c.find().sort('-a b')")[1] == [{"$sort": {"a": -1, "b": 1}}]
    assert read("db.c.find().sort('first name')")[1] == [{"$sort": {"first name": 1}}]
