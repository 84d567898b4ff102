# ruff: noqa: E501 - a query as people paste it
from __future__ import annotations

from collections.abc import Callable

import pytest
from syrupy.assertion import SnapshotAssertion

from groundql.core.program import MqlProgram
from groundql.languages.mongosh import parse_program
from groundql.languages.writing import to_ejson, to_javascript, to_python, to_shell

PASTED = """
use shop
// who bought what
db.getCollection('orders.2024').aggregate([
  {$match: {placed: {$gte: ISODate('2024-01-01'), $lt: new Date(2024, 1, 1)}, 'ship to': /^São/i, total: NumberDecimal('9.90'),
            _id: {$ne: ObjectId('507f1f77bcf86cd799439011')}, n: {$in: [1, 2.5, NumberLong('9007199254740993'), -Infinity, null, true]},
            key: {$nin: [UUID('00112233-4455-6677-8899-aabbccddeeff'), BinData(0, 'aGk='), MinKey(), Timestamp(1, 2), /a\\/b/x]}}},
  {$group: {_id: '$customer.id', total: {$sum: '$total'}, note: {$first: {$literal: '"quoted"\\n\\u202eback'}}}},
  {$sort: {total: -1}},
]).limit(10)
"""


@pytest.mark.parametrize("write", [to_shell, to_python, to_javascript, to_ejson], ids=lambda w: w.__name__)
def test_a_pasted_query_is_written_readably(write: Callable[[MqlProgram], str], snapshot: SnapshotAssertion) -> None:
    assert write(parse_program(PASTED)) == snapshot
