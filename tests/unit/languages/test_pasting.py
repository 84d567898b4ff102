# ruff: noqa: E501 - tables of text and what it means
"""What people paste beside or around a query, and what they paste instead of one."""

from __future__ import annotations

from typing import Any

import pytest

from groundql.errors import ProgramSyntaxError
from groundql.languages.mongosh import parse_program, read_query

FIND = ("c", [{"$match": {"a": 1}}])
OUTPUT = "what the shell printed is left out: only what was typed is read"


def read(text: str, **options: Any) -> tuple[str, list[Any]]:
    program = parse_program(text, **options)
    return program.container, list(program.stages)


def failure(text: str, **options: Any) -> ProgramSyntaxError:
    with pytest.raises(ProgramSyntaxError) as caught:
        parse_program(text, **options)
    assert "\n" not in str(caught.value)
    return caught.value


@pytest.mark.parametrize(
    "text",
    [
        "atlas> db.c.find({a: 1})\n[\n  { _id: ObjectId('507f1f77bcf86cd799439011'), a: 1 },\n  { _id: 2 }\n]\natlas> ",
        "rs0 [direct: primary] test> db.c.find({a: 1})\n[ { _id: 1 } ]",
        "Atlas x-shard-0 [primary] shop> db.c.find({a: 1})\n[ { _id: 1 } ]\nType \"it\" for more",
        "test> db.c.find({\n...   a: 1\n... })\n[ { a: 1 } ]",
        "test> db.c.find({\n  a: 1\n})\n[ { a: 1 } ]",
        "test> db.c\n  .find({a: 1})\n[ { a: 1 } ]",
        "> db.c.find({a: 1})\n{ \"_id\" : 1 }\n{ \"_id\" : 2 }",
        "test> use shop\nswitched to db shop\nshop> db.c.find({a: 1})\n[]",
        "test> var q = {a: 1}\nundefined\ntest> db.c.find(q)\n",
        "test> show collections\nc\nd\ntest> db.c.find({a: 1})",
        "Using Mongosh: 2.1.1\n\ntest> db.c.find({a: 1})\n[ { a: 1 } ]",
        ">>> db.c.find_one({'a': 1})\n{'_id': 1}",
        ">>> for d in db.c.find({'a': 1}):\n...     print(d)\n...\n{'a': 1}",
        "In [3]: list(db.c.find({'a': 1}))\nOut[3]: [{'a': 1}]",
    ],
)  # fmt: skip
def test_what_was_typed_at_a_prompt_is_read_and_what_was_printed_is_not(text: str) -> None:
    container, stages = read(text)
    assert (container, stages[:1]) == FIND


def test_printed_output_that_was_left_out_is_noted() -> None:
    assert OUTPUT in read_query("t> db.c.find()\n[ { a: 1 } ]").notes
    assert OUTPUT not in read_query("t> db.c.find()\nt> ").notes


def test_the_place_of_an_error_behind_a_prompt_is_its_place_in_the_text() -> None:
    error = failure("t> use x\nt> db.c.find({a: )\n[]")
    assert (error.line, error.column) == (2, 18)


@pytest.mark.parametrize(
    "text",
    [
        "t> db.c.find()\n[]\nt> db.c.deleteMany({})",
        "t> db.c.deleteMany({})\n{ deletedCount: 3 }\nt> db.c.find()\n[]",
        "First this:\ndb.c.find({a: 1})\nthen run\ndb.c.drop()",
        "Rows:\ndb.c.insertOne({a: 1})\nthen\n  db.c.find({a: 1})",
    ],
)
def test_a_write_anywhere_in_what_was_typed_is_refused(text: str) -> None:
    assert "writes" in str(failure(text))


def test_two_queries_of_a_session_are_not_guessed_between() -> None:
    assert "more than one query" in str(failure("t> db.c.find()\n[]\nt> db.d.find()\n[]"))


@pytest.mark.parametrize("text", ["// those of a > b\ndb.c.find({a: 1})", "> db.c.find({\n>   a: 1\n> })"])
def test_a_comment_or_a_quotation_is_no_prompt(text: str) -> None:
    assert read(text) == FIND


@pytest.mark.parametrize(
    "text",
    [
        "db.c.find({“a”: 1})",
        "db.getCollection(‘c’).find({‘a’: 1})",
        "db.c.find({\u00a0a:\u00a01\u200b})",
        "db.c.find({a: 1}) # the ones",
        "db.c.find({a: 1}),",
        "\"db.c.find({a: 1})\"",
        "mongosh shop --quiet --eval 'db.c.find({a: 1})'",
        "db.c.find({a: 1}).forEach(d => print(d.a))",
        "db.c.find({a: 1}).forEach(function (d) { printjson(d); })",
        "for await (const d of db.c.find({a: 1})) { console.log(d); }",
        "var cur = db.c.find({a: 1});\nwhile (cur.hasNext()) { printjson(cur.next()); }",
        "const coll = client.db('s').collection('c');\nconst cursor = coll.find({a: 1});\nconst rows = await cursor.toArray();\nawait client.close();",
        "const docs = await db.c.find({a: 1}).toArray();\nconsole.log(docs.length);",
        "cursor = db.c.find({'a': 1})\ndf = pd.DataFrame(list(cursor))",
        "with MongoClient('mongodb://h') as client:\n    for d in client['s']['c'].find({'a': 1}):\n        print(d)",
        "print([d for d in db.c.find({'a': 1})])",
        "db = connect('localhost/shop'); db.c.find({a: 1})",
    ],
)  # fmt: skip
def test_what_surrounds_a_query_in_scripts_chats_and_shells_is_seen_through(text: str) -> None:
    assert read(text) == FIND


def test_typographic_quotes_are_mended_with_a_note_and_kept_within_text() -> None:
    reading = read_query('db.c.find({“a”: “O’Brien”, "b": "“x”"})')
    assert reading.program.stages == ({"$match": {"a": "O’Brien", "b": "“x”"}},)
    assert "typographic quotes are read as plain ones" in reading.notes


def test_an_exported_sort_of_pairs_is_read() -> None:
    assert read("c = db['c']\nc.find(filter={'a': 1}, sort=list({'b': -1}.items()))") == (
        "c", [*FIND[1], {"$sort": {"b": -1}}],
    )  # fmt: skip


def test_ids_of_an_object_mapper_are_ids() -> None:
    oid = "507f1f77bcf86cd799439011"
    assert read(f"db.c.find({{i: new mongoose.Types.ObjectId('{oid}')}})") == read(
        f"db.c.find({{i: ObjectId('{oid}')}})"
    )


@pytest.mark.parametrize(
    ("text", "place", "says"),
    [
        ("db.c.find({'a': True 'b': None})", (1, 17), "as Python: invalid syntax. Perhaps you forgot a comma?"),
        ("from pymongo import MongoClient\ndb.c.find({'a': True)", (2, 21), "as Python: closing parenthesis"),
        ("p = [\n    {'$match': {'a': True}}\n    {'$limit': 5}\n]\ndb.c.aggregate(p)", (2, 5), "forgot a comma"),
        ("rows = list(db.c.find({'a': None}", (1, 22), "as Python: '(' was never closed"),
        ("const x = {a: 1 b: 2};\ndb.c.find(x)", (1, 21), "expected ','"),
    ],
)
def test_an_error_is_told_in_the_language_of_the_text(text: str, place: tuple[int, int], says: str) -> None:
    error = failure(text)
    assert says in str(error)
    assert (error.line, error.column) == place


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ("collection.find(eq(\"a\", 1)).sort(Sorts.descending(\"b\")).first();", "Java"),
        ("coll.aggregate(Arrays.asList(new Document(\"$match\", new Document(\"a\", 1L))));", "Java"),
        ("new BsonArray { new BsonDocument(\"$match\", new BsonDocument(\"a\", 1)) }", "C#"),
        ("cursor, err := coll.Find(context.TODO(), bson.D{{\"a\", 1}})", "Go"),
        ("$collection->find(['a' => 1]);", "PHP"),
        ("client['c'].find({'a' => 1})", "Ruby"),
        ("let mut cursor = coll.find(doc! { \"a\": 1 }).await?;", "Rust"),
        ("SELECT a FROM c WHERE (a = 1)", "SQL"),
    ],
)  # fmt: skip
def test_code_in_a_language_that_is_not_read_is_told_as_that(text: str, language: str) -> None:
    error = failure(text)
    assert str(error) == f"this looks like {language} code, which is not read"
    assert "shell syntax" in error.hint


@pytest.mark.parametrize("use", ["use('other');\n", "use other\n", "db = db.getSiblingDB('other');\n"])
def test_another_database_is_refused_however_it_is_chosen(use: str) -> None:
    assert "the database other" in str(failure(use + "db.c.find({a: 1})", database="shop"))
    assert read(use.replace("other", "shop") + "db.c.find({a: 1})", database="shop") == FIND


def test_a_database_beside_loaded_files_is_told_to_be_taken_out() -> None:
    error = failure("db.getSiblingDB('x').c.find()")
    assert "the database x, beside the one that is open" in str(error)
    assert "take the database's name out" in error.hint


@pytest.mark.parametrize(
    "text", ["db.c.find().forEach(d => db.c.drop())", "db.c.find().forEach(d => { print(d); total = 1 })"]
)
def test_a_function_that_does_more_than_print_is_refused(text: str) -> None:
    failure(text)


def test_a_database_chosen_before_the_query_is_told_or_refused_where_none_is_known() -> None:
    read = read_query("use shop\ndb.orders.find()")
    assert read.notes == ("use shop is left out: the database that is open is asked",)
    with pytest.raises(ProgramSyntaxError, match="admin"):
        read_query("use admin\ndb.orders.find()")
    assert read_query("use shop\ndb.orders.find()", database="shop").notes == ()
