"""Grounding a database: which documents of each container are looked at, until nothing new turns up.

A container within the budget is read whole. A larger one is sampled (`drawing`); one whose documents are too large to
be pulled is asked to describe itself (`server_side`). A container that cannot be read is reported as such, and the
rest goes on. Whether keys are data is decided at the end, when the values of all containers are known.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import anyio

from groundql.core.catalog import Container, ContainerInfo, Sampling, StopReason
from groundql.core.ports import Database, Description
from groundql.errors import DatabaseUnreachable, InputError
from groundql.grounding.drawing import Drawing, Progress, SamplePolicy
from groundql.grounding.profile import Profile, Profiler
from groundql.grounding.server_side import describe_on_server
from groundql.grounding.trie import LEAST_PURSE, MOST_VALUES
from groundql.grounding.vocabulary import Vocabulary

__all__ = ["Progress", "SamplePolicy", "profile_container", "profile_database"]

Listen = Callable[[Progress], None]

ALL_VALUES = 2_000_000
"""Values kept over all containers of a database while it is being grounded."""


@dataclass(slots=True)
class _Read:
    """What reading one container came to: a profiler with the documents, and how they were chosen."""

    profiler: Profiler
    sampling: Sampling
    error: Exception | None = None

    def finish(self, vocabulary: Vocabulary | None = None) -> Profile:
        """Write the profile; a container of which nothing was read is unknown."""
        if self.error is not None and not self.profiler.documents:
            return Profile(Container(self.profiler.info, (), self.sampling, error=_text(self.error)))
        profile = self.profiler.finish(self.sampling, vocabulary)
        if self.error is None:
            return profile
        # Part of it was read before it failed: what was seen is true, and the reason goes with the container's facts.
        info = replace(profile.container.info, error=_text(self.error))
        return replace(profile, container=replace(profile.container, info=info))


async def profile_container(
    database: Database, info: ContainerInfo, policy: SamplePolicy | None = None, listen: Listen | None = None
) -> Profile:
    """Profile one container; one that cannot be read gives a profile whose container carries the error."""
    read = await _read(database, info, policy or SamplePolicy(), listen, "", MOST_VALUES)
    return read.finish()


async def profile_database(
    database: Database,
    policy: SamplePolicy | None = None,
    listen: Listen | None = None,
    containers: Sequence[str] | None = None,
) -> tuple[Description, tuple[Profile, ...]]:
    """Profile the containers of a database, or those that are named, several at once.

    Raises: InputError for a name that is not there; DatabaseError when the containers cannot be listed, or the
    server went away before anything was read.
    """
    policy = policy or SamplePolicy()
    description = await database.describe()
    infos = _chosen(description, containers)
    reads: list[_Read | None] = [None] * len(infos)
    gate = anyio.Semaphore(policy.at_once)
    purse = max(LEAST_PURSE, min(MOST_VALUES, ALL_VALUES // max(1, len(infos))))

    async def read(at: int, info: ContainerInfo) -> None:
        async with gate:
            reads[at] = await _read(database, info, policy, listen, description.version, purse)

    async with anyio.create_task_group() as tasks:
        for at, info in enumerate(infos):
            tasks.start_soon(read, at, info)
    done = [found for found in reads if found is not None]
    lost = [found.error for found in done if not found.profiler.documents]
    if done and len(lost) == len(done) and isinstance(lost[0], DatabaseUnreachable):
        raise lost[0]
    vocabulary = Vocabulary([column for found in done for column in found.profiler.stored_columns()])
    return description, tuple(found.finish(vocabulary) for found in done)


def _chosen(description: Description, names: Sequence[str] | None) -> list[ContainerInfo]:
    if names is None:
        return list(description.containers)
    known = {info.name: info for info in description.containers}
    for name in names:
        if name not in known and not description.is_partial:
            there = ", ".join(sorted(known)) or "none"
            raise InputError(f"there is no container {name!r} in {description.database}", hint=f"there are: {there}")
    return [known.get(name) or ContainerInfo(name) for name in dict.fromkeys(names)]


async def _read(
    database: Database, info: ContainerInfo, policy: SamplePolicy, listen: Listen | None, version: str, purse: int
) -> _Read:
    started_s = time.monotonic()
    profiler = Profiler(info, purse)
    drawing = Drawing(database, profiler, policy, listen, version)
    try:
        if _is_too_large(info, policy) and database.dialect == "mongodb":
            read = _Read(*await describe_on_server(database, info, policy, version))
        else:
            read = _Read(profiler, await drawing.run())
            is_whole = read.sampling.stop is StopReason.EXHAUSTED
            profiler.info = replace(info, documents=profiler.documents if is_whole else drawing.total)
    except Exception as error:
        sampling = Sampling(
            profiler.documents, StopReason.FAILED, 1.0, drawing.read_bytes, time.monotonic() - started_s
        )
        read = _Read(profiler, sampling, error)
    if listen is not None:
        listen(drawing.progress(read.profiler, read.sampling.stop))
    return read


def _is_too_large(info: ContainerInfo, policy: SamplePolicy) -> bool:
    """Tell whether so few documents fit into the byte budget that they would be no sample."""
    mean, documents = info.mean_bytes or 0, info.documents
    whole = documents is not None and documents * mean <= policy.read_bytes
    return not whole and mean * policy.least_documents > policy.read_bytes


def _text(error: Exception) -> str:
    return str(error).strip() or type(error).__name__
