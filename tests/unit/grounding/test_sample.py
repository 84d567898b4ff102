from __future__ import annotations

import random
from collections.abc import AsyncIterator, Mapping, Sequence
from dataclasses import replace
from typing import Any, ClassVar

import anyio
import pytest

from groundql.core.catalog import ContainerInfo, ContainerType, StopReason
from groundql.core.path import Path
from groundql.core.ports import Description, Draw
from groundql.core.program import Admitted, MqlProgram, Program
from groundql.core.rows import Limits, Rows
from groundql.databases.memory import MemoryDatabase
from groundql.errors import DatabaseDenied, DatabaseTimeout, DatabaseUnreachable, InputError
from groundql.grounding.profile import Profile
from groundql.grounding.sample import Progress, SamplePolicy, profile_container, profile_database

pytestmark = pytest.mark.anyio

Documents = Sequence[Mapping[str, Any]]


class Shelf(MemoryDatabase):
    """Documents that can be counted, skipped through and grouped by a field, and that may refuse some draws."""

    def __init__(self, documents: Documents, *, refuses: frozenset[Draw] = frozenset(), is_random: bool = True) -> None:
        super().__init__({"things": documents}, self._answer)
        self._shelf = documents
        self._refuses = refuses
        self._is_random = is_random
        self.draws: list[tuple[Draw, int, Mapping[str, Any] | None]] = []

    async def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Mapping[str, Any]]:
        self.draws.append((draw, size, where))
        if draw in self._refuses:
            raise DatabaseTimeout("the draw took too long")
        if draw is Draw.RANDOM and not self._is_random:
            draw = Draw.HEAD
        async for document in super().sample(container, size, draw, where):
            yield document

    def _answer(self, program: Program) -> list[Mapping[str, Any]]:
        assert isinstance(program, MqlProgram)
        match program.stages:
            case ({"$count": name},):
                return [{name: len(self._shelf)}]
            case ({"$skip": skip}, {"$limit": limit}):
                return list(self._shelf[skip : skip + limit])
            case ({"$group": {"_id": None, **sets}},):
                fields = {name: str(wanted["$addToSet"])[1:] for name, wanted in sets.items()}
                return [{n: list({d[f] for d in self._shelf if f in d}) for n, f in fields.items()}]
            case other:
                raise AssertionError(f"unexpected program {other}")


class Broken(MemoryDatabase):
    """A database of which one container fails after some documents."""

    def __init__(self, documents: Mapping[str, Documents], broken: str, after: int, error: Exception) -> None:
        super().__init__(documents)
        self._broken = broken
        self._after = after
        self._error = error

    async def sample(
        self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
    ) -> AsyncIterator[Mapping[str, Any]]:
        given = 0
        async for document in super().sample(container, size, draw, where):
            if container == self._broken and given >= self._after:
                raise self._error
            given += 1
            yield document


def paths(profile: Profile) -> set[str]:
    return {str(f.path) for f in profile.container.fields}


def in_blocks(sizes: Mapping[str, int]) -> list[dict[str, Any]]:
    """Documents whose variants are stored one after another, each with two fields of its own."""
    kinds = [kind for kind, size in sizes.items() for _ in range(size)]
    return [{"_id": i, "kind": k, f"{k}_one": i, f"{k}_two": {"deep": "x"}} for i, k in enumerate(kinds)]


def of_blocks(sizes: Mapping[str, int]) -> set[str]:
    return {"_id", "kind"} | {p for k in sizes for p in (f"{k}_one", f"{k}_two", f"{k}_two.deep")}


INFO = ContainerInfo("things")
SMALL = SamplePolicy(documents=2000, first=200, edge=20, per_variant=30)


class TestSmallContainers:
    async def test_a_small_container_is_read_whole_and_says_so(self) -> None:
        database = Shelf([{"_id": i, "a": i} for i in range(50)])
        found = await profile_container(database, replace(INFO, documents=50))

        assert found.container.sampling.stop is StopReason.EXHAUSTED
        assert found.container.sampling.documents == 50
        assert found.container.sampling.unseen_share == 0
        assert found.container.is_exhaustive

    async def test_one_of_unknown_size_is_counted_first(self) -> None:
        found = await profile_container(Shelf([{"_id": i} for i in range(50)]), INFO)

        assert found.container.sampling.stop is StopReason.EXHAUSTED
        assert found.container.info.documents == 50

    async def test_an_empty_one_is_known_to_be_empty(self) -> None:
        found = await profile_container(Shelf([]), replace(INFO, documents=0))

        assert found.container.fields == ()
        assert found.container.is_known
        assert found.container.is_exhaustive

    async def test_a_view_of_unknown_size_that_cannot_be_counted_is_read_whole_when_small(self) -> None:
        database = MemoryDatabase({"things": [{"_id": i, "a": 1} for i in range(30)]})
        found = await profile_container(database, replace(INFO, type=ContainerType.VIEW))

        assert found.container.sampling.stop is StopReason.EXHAUSTED
        assert found.container.sampling.documents == 30

    async def test_documents_without_an_id_are_all_counted(self) -> None:
        found = await profile_container(Shelf([{"a": 1}] * 40), replace(INFO, documents=40))

        assert found.container.sampling.documents == 40

    async def test_a_count_that_was_too_low_turns_into_a_sample(self) -> None:
        found = await profile_container(Shelf([{"_id": i} for i in range(5000)]), replace(INFO, documents=10), SMALL)

        assert found.container.sampling.stop in (StopReason.DOCUMENTS, StopReason.SATURATED)
        assert not found.container.is_exhaustive


class TestVariantsOneAfterAnother:
    SIZES: ClassVar = {"driver": 5000, "team": 3000, "circuit": 40, "official": 3}

    async def test_all_come_out_of_a_random_sample(self) -> None:
        documents = in_blocks(self.SIZES)
        found = await profile_container(Shelf(documents), replace(INFO, documents=len(documents)), SMALL)

        assert paths(found) == of_blocks(self.SIZES)
        assert {v.value for v in found.container.variants} == set(self.SIZES)
        assert found.container.sampling.documents < 2000

    async def test_a_rare_one_in_the_middle_is_drawn_by_its_value(self) -> None:
        sizes = {"driver": 6000, "official": 2, "team": 4000}
        documents = in_blocks(sizes)
        found = await profile_container(Shelf(documents), replace(INFO, documents=len(documents)), SMALL)

        assert paths(found) == of_blocks(sizes)

    async def test_a_rare_one_comes_out_though_the_others_are_all_alike(self) -> None:
        documents: list[dict[str, Any]] = [{"_id": i, "kind": "plain"} for i in range(20_000)]
        documents[9_999] = {"_id": "odd one", "kind": "odd", "odd_field": 1}
        found = await profile_container(Shelf(documents), replace(INFO, documents=len(documents)), SMALL)

        assert "odd_field" in paths(found)

    @pytest.mark.parametrize("refuses", [{Draw.RANDOM}, {Draw.RANDOM, Draw.TAIL}])
    async def test_they_come_out_when_random_draws_are_refused(self, refuses: set[Draw]) -> None:
        sizes = {"driver": 3000, "team": 3000, "circuit": 2000}
        documents = in_blocks(sizes)
        database = Shelf(documents, refuses=frozenset(refuses))
        found = await profile_container(database, replace(INFO, documents=len(documents)), SMALL)

        assert paths(found) == of_blocks(sizes)

    async def test_they_come_out_when_a_random_draw_is_really_the_head(self) -> None:
        sizes = {"driver": 3000, "team": 3000, "circuit": 2000}
        documents = in_blocks(sizes)
        database = Shelf(documents, is_random=False)
        found = await profile_container(database, replace(INFO, documents=len(documents)), SMALL)

        assert paths(found) == of_blocks(sizes)


class TestStopping:
    async def test_a_uniform_container_stops_early(self) -> None:
        database = Shelf([{"_id": i, "a": 1} for i in range(50_000)])
        found = await profile_container(database, replace(INFO, documents=50_000))

        assert found.container.sampling.stop is StopReason.SATURATED
        assert found.container.sampling.documents < 3000
        assert 0 < found.container.sampling.unseen_share <= 0.001

    async def test_ever_new_fields_run_into_the_document_budget(self) -> None:
        pool = random.Random(3)
        documents = [
            {"_id": i, "r": {"x": 1, "y": "s", "z": [1]}}
            | {f"field_{pool.choice('abcdefgh')}_{i % 900}": [i, "s", True][i % 3]}
            for i in range(9000)
        ]
        found = await profile_container(Shelf(documents), replace(INFO, documents=9000), replace(SMALL, documents=500))

        assert found.container.sampling.stop is StopReason.DOCUMENTS
        assert found.container.sampling.documents == 500
        assert found.container.sampling.unseen_share > 0.1

    async def test_large_documents_run_into_the_byte_budget(self) -> None:
        documents = [{"_id": i, "text": "x" * 10_000} for i in range(500)]
        policy = replace(SMALL, read_bytes=100_000, documents=100, least_documents=1)
        found = await profile_container(Shelf(documents), replace(INFO, documents=500), policy)

        assert found.container.sampling.stop is StopReason.BYTES
        assert found.container.sampling.documents <= 12

    async def test_a_slow_server_runs_into_the_time_budget(self) -> None:
        class Slow(Shelf):
            async def sample(
                self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
            ) -> AsyncIterator[Mapping[str, Any]]:
                async for document in super().sample(container, size, draw, where):
                    yield document
                    await anyio.sleep(0.01)

        database = Slow([{"_id": i, "a": 1} for i in range(5000)])
        found = await profile_container(database, replace(INFO, documents=5000), replace(SMALL, elapsed_s=0.2))

        assert found.container.sampling.stop is StopReason.TIME
        assert "a" in paths(found)

    async def test_it_can_be_cancelled(self) -> None:
        started = anyio.Event()

        class Endless(Shelf):
            async def sample(
                self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
            ) -> AsyncIterator[Mapping[str, Any]]:
                started.set()
                await anyio.sleep_forever()
                yield {}

        async with anyio.create_task_group() as tasks:
            tasks.start_soon(profile_database, Endless([{"_id": 1}]))
            await started.wait()
            tasks.cancel_scope.cancel()
        assert tasks.cancel_scope.cancelled_caught


class TestFailures:
    async def test_one_bad_container_is_unknown_and_the_rest_goes_on(self) -> None:
        database = Broken({"bad": [{"_id": 1}], "good": [{"_id": 1}]}, "bad", 0, DatabaseDenied("not allowed"))
        _, found = await profile_database(database)

        bad, good = (p.container for p in found)
        assert bad.error == "not allowed"
        assert not bad.is_known
        assert bad.sampling.stop is StopReason.FAILED
        assert good.is_exhaustive

    async def test_what_was_read_before_a_failure_is_kept_with_the_reason(self) -> None:
        documents = [{"_id": i, "a": 1} for i in range(100)]
        database = Broken({"bad": documents}, "bad", 60, DatabaseTimeout("too slow"))
        _, (found,) = await profile_database(database)

        assert found.container.is_known
        assert not found.container.is_exhaustive
        assert paths(found) == {"_id", "a"}
        assert found.container.sampling.stop is StopReason.FAILED
        assert found.container.info.error == "too slow"

    async def test_a_server_that_went_away_is_an_error_of_the_whole(self) -> None:
        database = Broken({"bad": [{"_id": 1}]}, "bad", 0, DatabaseUnreachable("no server"))

        with pytest.raises(DatabaseUnreachable):
            await profile_database(database)

    async def test_a_name_that_is_not_there_is_refused_with_those_that_are(self) -> None:
        with pytest.raises(InputError, match="nope") as caught:
            await profile_database(MemoryDatabase({"good": []}), containers=["nope"])
        assert "good" in caught.value.hint

    async def test_a_name_that_could_not_be_listed_is_tried(self) -> None:
        partial = Description("db", "memory", "", (), is_partial=True)
        database = MemoryDatabase({"hidden": [{"_id": 1, "a": 1}]}, description=partial)
        _, (found,) = await profile_database(database, containers=["hidden"])

        assert paths(found) == {"_id", "a"}


class TestDatabase:
    async def test_profiles_come_in_the_order_of_the_description(self) -> None:
        database = MemoryDatabase({name: [{"_id": 1}] for name in "dacb"})
        _, found = await profile_database(database)

        assert [p.container.name for p in found] == ["a", "b", "c", "d"]

    async def test_keys_stored_as_values_of_another_container_make_a_map(self) -> None:
        colours = ["red", "green", "blue", "black", "white"]
        database = MemoryDatabase(
            {
                "colours": [{"_id": c} for c in colours],
                "cars": [{"_id": i, "sold": {c: i + n for n, c in enumerate(colours)}} for i in range(9)],
            }
        )
        _, (cars, _) = await profile_database(database)
        alone = await profile_container(database, ContainerInfo("cars", documents=9))

        assert "sold.<*>" in paths(cars)
        assert "sold.red" in paths(alone)

    async def test_only_so_many_are_read_at_once(self) -> None:
        running = most = 0

        class Watched(MemoryDatabase):
            async def sample(
                self, container: str, size: int, draw: Draw = Draw.RANDOM, where: Mapping[str, Any] | None = None, /
            ) -> AsyncIterator[Mapping[str, Any]]:
                nonlocal running, most
                running += 1
                most = max(most, running)
                await anyio.sleep(0.001)
                async for document in super().sample(container, size, draw, where):
                    yield document
                running -= 1

        await profile_database(Watched({f"c{i}": [{"_id": 1}] for i in range(20)}), SamplePolicy(at_once=3))

        assert most == 3

    async def test_progress_is_reported_and_ends_with_the_reason(self) -> None:
        heard: list[Progress] = []
        database = MemoryDatabase({"things": [{"_id": i, "a": 1} for i in range(1200)]})
        await profile_database(database, listen=heard.append)

        assert [p.documents for p in heard] == [500, 1000, 1200]
        assert [p.done for p in heard] == [False, False, True]
        assert heard[-1].stop is StopReason.EXHAUSTED
        assert heard[-1].paths == 2

    async def test_the_same_data_gives_the_same_catalog(self) -> None:
        documents = {"things": [{"_id": i, "kind": "ab"[i % 2], "m": {str(i % 40): [i]}} for i in range(500)]}
        _, one = await profile_database(MemoryDatabase(documents, seed=1))
        _, other = await profile_database(MemoryDatabase(documents, seed=2))

        def still(found: tuple[Profile, ...]) -> str:
            return repr([replace(p, container=replace(p.container, sampling=None)) for p in found])  # type: ignore[arg-type]

        assert still(one) == still(other)


class TestLargeDocuments:
    async def test_documents_too_large_to_pull_are_described_by_the_server(self) -> None:
        class Server(MemoryDatabase):
            async def execute(self, admitted: Admitted, limits: Limits, /) -> Rows:
                raise DatabaseTimeout("too slow")

        database = Server({"things": [{"_id": 1}]})
        found = await profile_container(database, replace(INFO, documents=1000, mean_bytes=15_000_000))

        assert found.container.error == "too slow"

    async def test_few_large_documents_that_fit_the_budget_are_read_whole(self) -> None:
        database = Shelf([{"_id": 1, "a": 1}])
        found = await profile_container(database, replace(INFO, documents=1, mean_bytes=15_000_000))

        assert found.container.is_exhaustive
        assert found.container.get(Path.parse("a"))
