"""What a set of tasks is like: the figures of the published dataset table, over all tasks and per database."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import log2
from statistics import mean, median

from groundql.bench.case import Gold, Suite
from groundql.bench.scoring.judging import read_gold
from groundql.bench.shape.complexity import complexity
from groundql.bench.shape.operators import families_of, longest_reference, operators_of, root_stages
from groundql.bench.shape.signature import signature, skeleton
from groundql.bench.shape.transfer import TransferLevel, transfer_level
from groundql.core.program import MqlProgram
from groundql.errors import InputError


@dataclass(frozen=True, slots=True)
class Statistics:
    """The figures of one set of tasks.

    Shape: `questions` counts both phrasings; `queried` is how many collections the golds start from or join; a figure
    about stored data is None where the data was not read. `skeletons` are families over all tasks, `scoped_skeletons`
    those within each database, added up; `largest_family` and `largest_scoped_family` the most tasks one of them has.
    `levels` are anti-SQL-transfer levels recomputed from the golds, `labels` what the release says, both counted.
    Units: `_share` of the programs that can be read; `entropy` and `entropy_over_tasks` are 0 to 1.
    Source: TEND, dataset statistics; `entropy_over_tasks` is ours
    """

    databases: int
    tasks: int
    questions: int
    collections: int | None
    queried: int
    documents: int | None
    programs: int
    stages_median: float
    stages_max: int
    operators_median: float
    operators: int
    signatures: int
    skeletons: int
    scoped_skeletons: int
    largest_family: int
    largest_scoped_family: int
    entropy: float
    entropy_over_tasks: float
    stage_sequences: int
    complexity_mean: float
    complexity_median: float
    dynamic_key_share: float
    array_share: float
    grouping_share: float
    nested_path_share: float
    levels: Mapping[str, int]
    labels: Mapping[str, Mapping[str, int]]


LABELS = ("schema_flex", "anti_sql_transfer_level", "difficulty", "native_feature_type")
Sizes = Mapping[str, Mapping[str, int]]
"""How many documents each collection of each database holds."""


def suite_statistics(suite: Suite, sizes: Sizes | None = None) -> Statistics:
    """Measure all tasks of a suite together."""
    return statistics_of([suite.golds[case.id] for case in suite.cases], sizes)


def statistics_by_database(suite: Suite, sizes: Sizes | None = None) -> dict[str, Statistics]:
    """Measure the tasks of each database apart."""
    grouped: dict[str, list[Gold]] = {}
    for case in suite.cases:
        grouped.setdefault(case.id.database, []).append(suite.golds[case.id])
    return {
        name: statistics_of(golds, None if sizes is None else {name: sizes.get(name, {})})
        for name, golds in grouped.items()
    }


def statistics_of(golds: Sequence[Gold], sizes: Sizes | None = None) -> Statistics:
    """Measure a set of tasks; a gold that cannot be read counts as a task but not as a program."""
    read = [(gold, program) for gold in golds if (program := _program(gold)) is not None]
    programs = [program for _, program in read]
    scoped = Counter((gold.id.database, skeleton(program)) for gold, program in read)
    families = Counter(skeleton(program) for program in programs)
    used = [operators_of(program) for program in programs]
    scores = [complexity(program) for program in programs]
    return Statistics(
        databases=len({gold.id.database for gold in golds}),
        tasks=len(golds),
        questions=len(golds) + sum(bool(gold.colloquial) for gold in golds),
        collections=None if sizes is None else sum(map(len, sizes.values())),
        queried=len({(gold.id.database, name) for gold, program in read for name in containers_of(program)}),
        documents=None if sizes is None else sum(sum(each.values()) for each in sizes.values()),
        programs=len(programs),
        stages_median=median(len(p.stages) for p in programs) if programs else 0.0,
        stages_max=max((len(p.stages) for p in programs), default=0),
        operators_median=median(map(len, used)) if used else 0.0,
        operators=len(sum(used, Counter[str]())),
        signatures=len({(gold.id.database, signature(program)) for gold, program in read}),
        skeletons=len(families),
        scoped_skeletons=len(scoped),
        largest_family=max(families.values(), default=0),
        largest_scoped_family=max(scoped.values(), default=0),
        entropy=normalised_entropy(families, len(families)),
        entropy_over_tasks=normalised_entropy(families, len(programs)),
        stage_sequences=len({root_stages(program) for program in programs}),
        complexity_mean=round(mean(scores), 2) if scores else 0.0,
        complexity_median=round(median(scores), 2) if scores else 0.0,
        dynamic_key_share=_share("dynamic_key", programs),
        array_share=_share("array", programs),
        grouping_share=_share("grouping", programs),
        nested_path_share=round(sum(longest_reference(p) > 1 for p in programs) / max(len(programs), 1), 4),
        levels=_levels(programs),
        labels={name: counts for name in LABELS if (counts := _labels(golds, name))},
    )


def normalised_entropy(families: Mapping[Hashable, int] | Mapping[str, int], of: int) -> float:
    """Return the entropy of a distribution over the largest that `of` equal classes could have.

    Published figures take the number of observed families for `of`: two families of equal size then give 1, however
    many tasks share them. Taken over the number of tasks, only all-different programs give 1.
    Units: 0 to 1; 0 where there is nothing to compare.
    """
    total = sum(families.values())
    if of < 2 or not total:
        return 0.0
    shares = [count / total for count in families.values() if count]
    return round(-sum(share * log2(share) for share in shares) / log2(of) + 0.0, 4)


def containers_of(program: MqlProgram) -> frozenset[str]:
    """Return the collections that a program starts from or joins at its root."""
    joined = (target for stage in program.stages for target in _targets(stage))
    return frozenset({program.container, *joined})


def _targets(stage: Mapping[str, object]) -> Iterable[str]:
    for name, key in (("$lookup", "from"), ("$graphLookup", "from"), ("$unionWith", "coll")):
        value = stage.get(name)
        target = value if isinstance(value, str) else value.get(key) if isinstance(value, Mapping) else None  # pyright: ignore[reportUnknownMemberType, reportUnknownVariableType]
        if isinstance(target, str):
            yield target


def _share(family: str, programs: Sequence[MqlProgram]) -> float:
    return round(sum(family in families_of(program) for program in programs) / max(len(programs), 1), 4)


def _levels(programs: Iterable[MqlProgram]) -> dict[str, int]:
    counts = Counter(transfer_level(program).value for program in programs)
    return {level.value: counts[level.value] for level in TransferLevel}


def _labels(golds: Iterable[Gold], name: str) -> dict[str, int]:
    counts = Counter(str(gold.labels[name]) for gold in golds if gold.labels.get(name))
    return dict(sorted(counts.items(), key=lambda pair: (-pair[1], pair[0])))


def _program(gold: Gold) -> MqlProgram | None:
    try:
        return read_gold(gold.mql)
    except InputError:
        return None
