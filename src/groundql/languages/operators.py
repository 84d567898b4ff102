"""The operators of MongoDB's query language as data: where each may stand, since which version, whether it only reads.

Source: the aggregation and query operator pages of the MongoDB manual, versions 4.0 to 8.3.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from enum import StrEnum
from typing import Final


class Position(StrEnum):
    """Where an operator stands."""

    STAGE = "stage"
    EXPRESSION = "expression"
    ACCUMULATOR = "accumulator"
    """The value of a field of `$group`, or of the output of `$bucket` and `$bucketAuto`."""
    WINDOW = "window"
    """The value of an output field of `$setWindowFields`."""
    QUERY = "query"
    """A key of a filter document itself, beside the field names."""
    PREDICATE = "predicate"
    """A key of the condition on one field of a filter document."""


@dataclass(frozen=True, slots=True)
class Operator:
    """One operator in one position.

    `since` is the first version that has it ("" for every supported one). `reads_only` is false for what may never
    run here, and `refusal` then says why.
    """

    name: str
    position: Position
    since: str = ""
    reads_only: bool = True
    refusal: str = ""


_STAGES: Final = {
    "": """$addFields $bucket $bucketAuto $count $facet $geoNear $graphLookup $group $limit $lookup $match $project
        $redact $replaceRoot $sample $skip $sort $sortByCount $unwind""",
    "4.2": "$replaceWith $search $set $unset",
    "4.4": "$searchMeta $unionWith",
    "5.0": "$setWindowFields",
    "5.1": "$densify $documents",
    "5.3": "$fill",
    "6.0": "$vectorSearch",
    "8.0": "$rankFusion",
    "8.2": "$score $scoreFusion",
}

_EXPRESSIONS: Final = {
    "": """$abs $add $allElementsTrue $and $anyElementTrue $arrayElemAt $arrayToObject $avg $ceil $cmp $concat
        $concatArrays $cond $const $convert $dateFromParts $dateFromString $dateToParts $dateToString $dayOfMonth
        $dayOfWeek $dayOfYear $divide $eq $exp $filter $floor $gt $gte $hour $ifNull $in $indexOfArray $indexOfBytes
        $indexOfCP $isArray $isoDayOfWeek $isoWeek $isoWeekYear $let $literal $ln $log $log10 $lt $lte $ltrim $map $max
        $mergeObjects $meta $millisecond $min $minute $mod $month $multiply $ne $not $objectToArray $or $pow $range
        $reduce $reverseArray $rtrim $second $setDifference $setEquals $setIntersection $setIsSubset $setUnion $size
        $slice $split $sqrt $stdDevPop $stdDevSamp $strLenBytes $strLenCP $strcasecmp $substr $substrBytes $substrCP
        $subtract $sum $switch $toBool $toDate $toDecimal $toDouble $toInt $toLong $toLower $toObjectId $toString
        $toUpper $trim $trunc $type $week $year $zip""",
    "4.2": """$acos $acosh $asin $asinh $atan $atan2 $atanh $cos $cosh $degreesToRadians $radiansToDegrees $regexFind
        $regexFindAll $regexMatch $round $sin $sinh $tan $tanh""",
    "4.4": "$binarySize $bsonSize $first $isNumber $last $rand $replaceAll $replaceOne",
    "5.0": "$dateAdd $dateDiff $dateSubtract $dateTrunc $getField $setField $unsetField",
    "5.1": "$tsIncrement $tsSecond",
    "5.2": "$firstN $lastN $maxN $minN $sortArray",
    "6.3": "$bitAnd $bitNot $bitOr $bitXor $toHashedIndexKey",
    "7.0": "$median $percentile",
    "8.0": "$toUUID",
    "8.1": "$sigmoid",
    "8.2": "$encStrContains $encStrEndsWith $encStrNormalizedEq $encStrStartsWith $similarityCosine "
    "$similarityDotProduct $similarityEuclidean",
    "8.3": "$createObjectId $deserializeEJSON $hash $hexHash $serializeEJSON $subtype $toArray $toObject",
}

_ACCUMULATORS: Final = {
    "": "$addToSet $avg $first $last $max $mergeObjects $min $push $stdDevPop $stdDevSamp $sum",
    "5.0": "$count",
    "5.2": "$bottom $bottomN $firstN $lastN $maxN $minN $top $topN",
    "7.0": "$median $percentile",
    "8.1": "$concatArrays $setUnion",
}

_WINDOWS: Final = {
    "5.0": """$addToSet $avg $count $covariancePop $covarianceSamp $denseRank $derivative $documentNumber $expMovingAvg
        $first $integral $last $max $min $push $rank $shift $stdDevPop $stdDevSamp $sum""",
    "5.2": "$bottom $bottomN $firstN $lastN $locf $maxN $minN $top $topN",
    "5.3": "$linearFill",
    "7.0": "$median $percentile",
    "8.1": "$concatArrays $mergeObjects $setUnion",
    "8.2": "$minMaxScaler",
}

_QUERIES: Final = {
    "": "$alwaysFalse $alwaysTrue $and $comment $expr $jsonSchema $nor $or $text",
    "4.4": "$sampleRate",
}

_PREDICATES: Final = {
    "": """$all $bitsAllClear $bitsAllSet $bitsAnyClear $bitsAnySet $comment $elemMatch $eq $exists $geoIntersects
        $geoWithin $gt $gte $in $lt $lte $maxDistance $minDistance $mod $ne $near $nearSphere $nin $not $options $regex
        $size $type $within""",
}

_WRITES: Final = "it writes, and only reads run"
_CODE: Final = "it runs JavaScript on the server"
_ENDLESS: Final = "it never ends"
_ADMIN: Final = "it reads about the server or other users instead of about stored documents"
_INNER: Final = "it is internal to the server"

_FORBIDDEN: Final = {
    Position.STAGE: {
        _WRITES: "$merge $out",
        _ENDLESS: "$changeStream $changeStreamSplitLargeEvent",
        _ADMIN: """$backupCursor $backupCursorExtend $backupFile $collStats $currentOp $indexStats
            $listCachedAndActiveUsers $listCatalog $listClusterCatalog $listExtensions
            $listLocalSessions $listMqlEntities $listSampledQueries $listSearchIndexes $listSessions
            $operationMetrics $planCacheStats $querySettings $queryStats $shardedDataDistribution""",
        _INNER: "$mergeCursors $queue",
    },
    Position.EXPRESSION: {_CODE: "$accumulator $function"},
    Position.ACCUMULATOR: {_CODE: "$accumulator $function"},
    Position.WINDOW: {_CODE: "$accumulator $function"},
    Position.QUERY: {_CODE: "$function $where"},
    Position.PREDICATE: {_CODE: "$function $where"},
}

_READS: Final = {
    Position.STAGE: _STAGES,
    Position.EXPRESSION: _EXPRESSIONS,
    Position.ACCUMULATOR: _ACCUMULATORS,
    Position.WINDOW: _WINDOWS,
    Position.QUERY: _QUERIES,
    Position.PREDICATE: _PREDICATES,
}


def _rows(position: Position) -> Iterator[Operator]:
    for since, names in _READS[position].items():
        yield from (Operator(name, position, since) for name in names.split())
    for refusal, names in _FORBIDDEN[position].items():
        yield from (Operator(name, position, "", False, refusal) for name in names.split())


OPERATORS: Final[Mapping[Position, Mapping[str, Operator]]] = {
    position: {row.name: row for row in _rows(position)} for position in Position
}
"""Every known operator by position and name, the refused ones included."""

SYSTEM_VARIABLES: Final[Mapping[str, str]] = {
    "CLUSTER_TIME": "4.2",
    "CURRENT": "",
    "DESCEND": "",
    "IDX": "8.3",
    "KEEP": "",
    "NOW": "4.2",
    "PRUNE": "",
    "REMOVE": "",
    "ROOT": "",
    "SEARCH_META": "4.4",
    "USER_ROLES": "7.0",
}
"""Variables that the server defines, with the first version that has them."""


def read_names(position: Position) -> tuple[str, ...]:
    """List the operators that may run in a position."""
    return tuple(row.name for row in OPERATORS[position].values() if row.reads_only)


def positions_of(name: str) -> tuple[Position, ...]:
    """List the positions in which an operator may run."""
    return tuple(p for p, rows in OPERATORS.items() if name in rows and rows[name].reads_only)


def version_key(version: str) -> tuple[int, int] | None:
    """Return major and minor of a server version, or None for text that holds none."""
    found = re.match(r"v?(\d{1,4})(?:\.(\d{1,4}))?(?!\d)", version.strip(), re.ASCII)
    return (int(found[1]), int(found[2] or 0)) if found else None


def is_since(since: str, version: str) -> bool:
    """Tell whether a server of `version` has what came with `since`; an unknown version has everything."""
    has, needs = version_key(version), version_key(since)
    return has is None or needs is None or has >= needs
