from __future__ import annotations

import datetime as dt
import gzip
import json
import os
import stat
import subprocess
import sys
from dataclasses import replace
from pathlib import Path as FilePath

import anyio
import pytest
from bson import Decimal128, Int64, ObjectId

from groundql.core.catalog import Catalog
from groundql.core.path import Path
from groundql.core.ports import Description
from groundql.errors import GroundingError
from groundql.grounding.codec import StoredGrounding
from groundql.grounding.grounder import assemble
from groundql.grounding.profile import StoredValues
from groundql.grounding.store import GroundingStore
from unit.grounding.small_world import customers, orders, profile_of

pytestmark = pytest.mark.anyio
PRINT = "a" * 32


def grounding(fingerprint: str = PRINT) -> StoredGrounding:
    profiles = (profile_of("orders", orders()), profile_of("customers", customers()))
    description = Description("My Shop", "MongoDB", "8.0", ())
    return assemble(description, profiles, fingerprint, dt.datetime(2024, 1, 1, tzinfo=dt.UTC))


def test_a_grounding_reads_back_as_it_was(tmp_path: FilePath) -> None:
    store, kept = GroundingStore(tmp_path), grounding()
    store.save(kept)
    found = store.load(PRINT)
    assert found == kept
    assert found is not None
    assert found.catalog.created == kept.catalog.created
    assert found.catalog.edges


def test_every_kind_of_value_survives(tmp_path: FilePath) -> None:
    odd = (
        1, Int64(1), 2**40, 1.0, -0.0, "1", True, Decimal128("1.10"), ObjectId("6b0e0ddce341cdc844e01101"), "",
        "\ud800",
        dt.datetime(2024, 1, 1, 12, 30, tzinfo=dt.UTC), dt.datetime(1, 1, 1), float("inf"), b"\x00\xff",
        '{"$oid": "x"}', "\u2028",
    )  # fmt: skip
    values = StoredValues("things", Path.parse('["a.b"].<*>[]'), False, tuple((v, 1) for v in odd), False, 99)
    kept = StoredGrounding(Catalog("d", (), PRINT), (values,))
    store = GroundingStore(tmp_path)
    store.save(kept)
    found = store.load(PRINT)
    assert found == kept
    assert found is not None
    assert [type(v) for v, _ in found.values[0].counts] == [type(v) for v in odd]


def test_ranges_and_counts_survive_exactly(tmp_path: FilePath) -> None:
    numbers = [Decimal128("9E+6000"), Int64(2**53 + 1), float("nan"), float("inf"), 0.1]
    documents = [{"n": n, "m": {f"2014-{i}": 1 for i in range(at)}} for at, n in enumerate(numbers)]
    kept = assemble(Description("d", "MongoDB", "8.0", ()), (profile_of("things", documents),), PRINT)
    store = GroundingStore(tmp_path)
    store.save(kept)
    assert store.load(PRINT) == kept


def test_what_is_not_there_is_none(tmp_path: FilePath) -> None:
    assert GroundingStore(tmp_path / "nowhere").load(PRINT) is None


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"not gzip",
        gzip.compress(b"{"),
        gzip.compress(b"[]"),
        gzip.compress(b'{"format": 999}'),
        gzip.compress(b'{"format": 1}'),
        gzip.compress(json.dumps({"format": 1, "values": [], "database": "x", "containers": [7]}).encode()),
        gzip.compress(b"[" * 100_000),
    ],
)
def test_a_damaged_or_foreign_file_is_a_clear_error(tmp_path: FilePath, content: bytes) -> None:
    (tmp_path / f"my-shop-{PRINT}.json.gz").write_bytes(content)
    with pytest.raises(GroundingError, match="stored grounding"):
        GroundingStore(tmp_path).load(PRINT)


def test_a_half_written_file_is_a_clear_error(tmp_path: FilePath) -> None:
    store = GroundingStore(tmp_path)
    path = store.save(grounding())
    path.write_bytes(path.read_bytes()[:-100])
    with pytest.raises(GroundingError):
        store.load(PRINT)


def test_a_file_under_another_name_is_refused(tmp_path: FilePath) -> None:
    store = GroundingStore(tmp_path)
    store.save(grounding()).rename(tmp_path / f"my-shop-{'b' * 32}.json.gz")
    with pytest.raises(GroundingError, match="other data"):
        store.load("b" * 32)


@pytest.mark.parametrize("fingerprint", ["../../etc/passwd", "", "A" * 32, "*" * 32])
def test_a_fingerprint_cannot_leave_the_folder(tmp_path: FilePath, fingerprint: str) -> None:
    with pytest.raises(GroundingError, match="no fingerprint"):
        GroundingStore(tmp_path).load(fingerprint)


@pytest.mark.parametrize("name", ["../../x", "a/b\\c:d", "", "名前", "x" * 500])
def test_any_database_name_gives_a_file_in_the_folder(tmp_path: FilePath, name: str) -> None:
    path = GroundingStore(tmp_path).save(StoredGrounding(Catalog(name, (), PRINT), ()))
    assert path.parent == tmp_path
    assert path.is_file()


@pytest.mark.skipif(sys.platform == "win32", reason="file modes")
def test_files_are_for_their_owner_alone(tmp_path: FilePath) -> None:
    path = GroundingStore(tmp_path / "new").save(grounding())
    assert stat.S_IMODE(path.stat().st_mode) == 0o600
    assert stat.S_IMODE(path.parent.stat().st_mode) == 0o700


@pytest.mark.skipif(sys.platform == "win32" or os.geteuid() == 0, reason="needs a folder that cannot be written")
def test_a_folder_that_cannot_be_written_is_a_clear_error(tmp_path: FilePath) -> None:
    tmp_path.chmod(0o500)
    with pytest.raises(GroundingError, match="cannot be kept"):
        GroundingStore(tmp_path).save(grounding())


def test_a_file_in_place_of_the_folder_is_a_clear_error(tmp_path: FilePath) -> None:
    (tmp_path / "taken").write_text("")
    with pytest.raises(GroundingError, match="cannot be kept"):
        GroundingStore(tmp_path / "taken").save(grounding())


def test_nothing_half_written_is_left_behind(tmp_path: FilePath) -> None:
    store = GroundingStore(tmp_path)
    for _ in range(3):
        store.save(grounding())
    assert len(list(tmp_path.iterdir())) == 1


def test_old_groundings_of_one_database_are_removed(tmp_path: FilePath) -> None:
    store = GroundingStore(tmp_path, kept=2)
    store.save(StoredGrounding(replace(grounding().catalog, database="other"), ()))
    for i, letter in enumerate("bcde"):
        path = store.save(grounding(letter * 32))
        os.utime(path, (i, i))
    assert sorted(p.name[:6] for p in tmp_path.glob("*.json.gz")) == ["my-sho", "my-sho", "other-"]
    assert store.load("e" * 32) is not None
    assert store.load("b" * 32) is None


async def test_one_lock_is_held_at_a_time_and_another_waits(tmp_path: FilePath) -> None:
    store, seen = GroundingStore(tmp_path), list[str]()

    async def build(name: str) -> None:
        async with store.hold(PRINT) as held:
            assert held
            seen.append(f"{name} in")
            await anyio.sleep(0.05)
            seen.append(f"{name} out")

    async with anyio.create_task_group() as tasks:
        tasks.start_soon(build, "a")
        tasks.start_soon(build, "b")
    assert [s.split()[1] for s in seen] == ["in", "out", "in", "out"]


async def test_waiting_for_another_process_has_an_end(tmp_path: FilePath) -> None:
    patient, hasty = GroundingStore(tmp_path), GroundingStore(tmp_path, wait_s=0.0)
    async with patient.hold(PRINT) as first, hasty.hold(PRINT) as second:
        assert (first, second) == (True, False)


_DIE_HOLDING = """
import os, pathlib, sys, anyio
from groundql.grounding.store import GroundingStore

async def hold():
    async with GroundingStore(pathlib.Path(sys.argv[1])).hold(sys.argv[2]):
        print("held", flush=True)
        os._exit(7)

anyio.run(hold)
"""

_SAVE = """
import pathlib, sys
from groundql.grounding.store import GroundingStore

kept = GroundingStore(pathlib.Path(sys.argv[1])).load(sys.argv[3])
for _ in range(5):
    GroundingStore(pathlib.Path(sys.argv[2])).save(kept)
"""


async def test_a_lock_falls_with_its_process(tmp_path: FilePath) -> None:
    died = await anyio.run_process([sys.executable, "-c", _DIE_HOLDING, str(tmp_path), PRINT], check=False)
    assert (died.returncode, died.stdout.strip()) == (7, b"held")
    async with GroundingStore(tmp_path, wait_s=0.0).hold(PRINT) as held:
        assert held


def test_processes_that_save_at_once_leave_a_whole_file(tmp_path: FilePath) -> None:
    one, other = tmp_path / "one", tmp_path / "other"
    GroundingStore(one).save(grounding())
    command = [sys.executable, "-c", _SAVE, str(one), str(other), PRINT]
    processes = [subprocess.Popen(command) for _ in range(3)]
    assert [process.wait() for process in processes] == [0, 0, 0]
    assert GroundingStore(other).load(PRINT) == grounding()
    assert len(list(other.iterdir())) == 1
