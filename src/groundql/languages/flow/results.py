"""What kinds the expression operators of MongoDB 8 return, as data.

Source: MongoDB manual 8.x, "Aggregation Operators".
"""

from __future__ import annotations

from typing import Final

from groundql.core.kind import NOTHING, NUMBERS, Kind
from groundql.languages.flow.types import Type, computed

_STRING: Final = frozenset({Kind.STRING})
_BOOL: Final = frozenset({Kind.BOOL})
_INT: Final = frozenset({Kind.INT})
_LONG: Final = frozenset({Kind.LONG})
_DOUBLE: Final = frozenset({Kind.DOUBLE})
_DECIMAL: Final = frozenset({Kind.DECIMAL})
_DATE: Final = frozenset({Kind.DATE})
_ARRAY: Final = frozenset({Kind.ARRAY})

ALWAYS: Final = {
    **dict.fromkeys(
        [
            "$eq",
            "$ne",
            "$gt",
            "$gte",
            "$lt",
            "$lte",
            "$and",
            "$or",
            "$not",
            "$in",
            "$isArray",
            "$isNumber",
            "$regexMatch",
            "$allElementsTrue",
            "$anyElementTrue",
            "$setEquals",
            "$setIsSubset",
            "$encStrContains",
            "$encStrEndsWith",
            "$encStrStartsWith",
            "$encStrNormalizedEq",
        ],
        _BOOL,
    ),
    **dict.fromkeys(["$toLower", "$toUpper", "$substr", "$substrBytes", "$substrCP", "$type"], _STRING),
    **dict.fromkeys(
        [
            "$cmp",
            "$size",
            "$strLenBytes",
            "$strLenCP",
            "$strcasecmp",
            "$count",
            "$documentNumber",
            "$rank",
            "$denseRank",
        ],
        _INT,
    ),
    **dict.fromkeys(["$rand", "$minMaxScaler"], _DOUBLE),
    "$toHashedIndexKey": _LONG,
    "$createObjectId": frozenset({Kind.OBJECT_ID}),
}
"""Operators that return these kinds whatever they are given."""

UNLESS_NULL: Final = {
    **dict.fromkeys(
        ["$concat", "$trim", "$ltrim", "$rtrim", "$replaceOne", "$replaceAll", "$toString", "$dateToString"], _STRING
    ),
    **dict.fromkeys(
        [
            "$indexOfArray",
            "$indexOfBytes",
            "$indexOfCP",
            "$bsonSize",
            "$binarySize",
            "$year",
            "$month",
            "$dayOfMonth",
            "$dayOfWeek",
            "$dayOfYear",
            "$hour",
            "$minute",
            "$second",
            "$millisecond",
            "$week",
            "$isoWeek",
            "$isoDayOfWeek",
            "$toInt",
            "$subtype",
        ],
        _INT,
    ),
    **dict.fromkeys(["$toLong", "$dateDiff", "$isoWeekYear", "$tsSecond", "$tsIncrement"], _LONG),
    **dict.fromkeys(
        [
            "$toDouble",
            "$sin",
            "$cos",
            "$tan",
            "$asin",
            "$acos",
            "$atan",
            "$atan2",
            "$sinh",
            "$cosh",
            "$tanh",
            "$asinh",
            "$acosh",
            "$atanh",
            "$degreesToRadians",
            "$radiansToDegrees",
            "$sigmoid",
            "$similarityCosine",
            "$similarityDotProduct",
            "$similarityEuclidean",
        ],
        _DOUBLE,
    ),
    "$toDecimal": _DECIMAL,
    "$toBool": _BOOL,
    "$toObjectId": frozenset({Kind.OBJECT_ID}),
    "$toUUID": frozenset({Kind.BINARY}),
    **dict.fromkeys(["$toDate", "$dateFromParts", "$dateFromString", "$dateAdd", "$dateSubtract", "$dateTrunc"], _DATE),
    "$range": _ARRAY,
}
"""Operators that return these kinds, or null where an argument is null or missing."""

ARITHMETIC: Final = frozenset(
    [
        "$add",
        "$subtract",
        "$multiply",
        "$mod",
        "$abs",
        "$ceil",
        "$floor",
        "$round",
        "$trunc",
        "$pow",
        "$bitAnd",
        "$bitOr",
        "$bitXor",
        "$bitNot",
    ]
)
"""Operators whose result is as wide as their arguments; `$add` and `$subtract` also take dates."""

FRACTIONS: Final = frozenset(["$divide", "$exp", "$ln", "$log", "$log10", "$sqrt", "$avg", "$stdDevPop", "$stdDevSamp"])
"""Operators that return a double, or a decimal where an argument is one."""

OPAQUE: Final = frozenset(
    [
        "$meta",
        "$toArray",
        "$toObject",
        "$function",
        "$accumulator",
        "$serializeEJSON",
        "$deserializeEJSON",
        "$hash",
        "$hexHash",
    ]
)
"""Known operators of whose results nothing is known."""

CONVERSIONS: Final = {
    "double": _DOUBLE, "1": _DOUBLE, "string": _STRING, "2": _STRING, "objectId": frozenset({Kind.OBJECT_ID}),
    "7": frozenset({Kind.OBJECT_ID}), "bool": _BOOL, "8": _BOOL, "date": _DATE, "9": _DATE, "int": _INT, "16": _INT,
    "long": _LONG, "18": _LONG, "decimal": _DECIMAL, "19": _DECIMAL, "binData": frozenset({Kind.BINARY}),
    "5": frozenset({Kind.BINARY}), "object": frozenset({Kind.OBJECT}), "array": _ARRAY,
}  # fmt: skip
"""The `to` of `$convert` -> the kinds that come out."""


def widest(kinds: frozenset[Kind]) -> frozenset[Kind]:
    """Return the kinds that arithmetic on numbers of these kinds can come to."""
    numbers = kinds & NUMBERS
    if not numbers:
        return NUMBERS
    wider = numbers | (_LONG if Kind.INT in numbers else frozenset[Kind]())
    return wider | (_DOUBLE if Kind.LONG in wider else frozenset[Kind]())


def arithmetic_result(operator: str, args: list[Type]) -> Type:
    """Return the type of a sum, product or the like."""
    kinds = frozenset(k for arg in args for k in arg.kinds)
    result = widest(kinds)
    if operator in ("$add", "$subtract") and Kind.DATE in kinds:
        result = result | _DATE if kinds & NUMBERS or operator == "$subtract" else _DATE
    return computed(result | {Kind.NULL} if kinds & NOTHING else result)


def fraction_result(args: list[Type]) -> Type:
    """Return the type of a quotient, a mean or the like."""
    kinds = frozenset(k for arg in args for k in arg.kinds)
    return computed(_DOUBLE | (kinds & _DECIMAL) | {Kind.NULL})


TABLED: Final = frozenset(ALWAYS) | frozenset(UNLESS_NULL) | ARITHMETIC | FRACTIONS
"""Every operator whose result the tables give."""


def table_result(operator: str, args: list[Type]) -> Type:
    """Return the type that the tables give for one of their operators."""
    if operator in ALWAYS:
        return computed(ALWAYS[operator])
    if operator in UNLESS_NULL:
        is_null = any(arg.kinds & NOTHING for arg in args)
        return computed(UNLESS_NULL[operator] | {Kind.NULL} if is_null else UNLESS_NULL[operator])
    if operator in ARITHMETIC:
        return arithmetic_result(operator, args)
    return fraction_result(args)
