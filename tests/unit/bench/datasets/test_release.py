from __future__ import annotations

import gzip
import hashlib
import json
from pathlib import Path

import pytest

from groundql.bench.datasets.checksums import Match, Published, check
from groundql.bench.datasets.release import Figures, bring, published_figures
from groundql.errors import LoadError

DATA = b'{"orders": [{"_id": 1}]}'
RIGHT = Published(len(DATA), hashlib.sha256(DATA).hexdigest())
FIGURES = Figures("r", 2, {"shop": RIGHT, "zoo": RIGHT}, {"r.tar.zst": RIGHT}, {})


def release(folder: Path, counts: dict[str, int], data: dict[str, bytes]) -> Path:
    (folder / "mongodb_data").mkdir(parents=True)
    records = [
        {"record_id": n, "db_id": name, "NLQ": "?", "NLQ_colloquial": "?", "MQL": "db.c.aggregate([])"}
        for name, count in counts.items()
        for n in range(count)
    ]
    (folder / "TEND_lean.json").write_text(json.dumps(records), encoding="utf-8")
    for name, content in data.items():
        (folder / "mongodb_data" / f"{name}.json").write_bytes(content)
    return folder


def matches(path: Path, figures: Figures = FIGURES, **options: bool) -> dict[str, Match]:
    return {each.name: each.match for each in bring(path, figures, **options).checked}


def test_a_complete_release_matches_file_by_file(tmp_path: Path) -> None:
    folder = release(tmp_path / "r", {"shop": 2, "zoo": 2}, {"shop": DATA, "zoo": gzip.compress(DATA)})
    brought = bring(folder, FIGURES)
    assert {each.match for each in brought.checked} == {Match.MATCHES}
    assert (brought.tasks, set(brought.imported.sources)) == (4, {"shop", "zoo"})
    assert brought.is_as_published


def test_a_part_of_the_release_is_imported_and_named(tmp_path: Path) -> None:
    folder = release(tmp_path / "r", {"shop": 1}, {"shop": DATA})
    assert matches(folder) == {
        "TEND_lean.json": Match.PARTLY,
        "shop": Match.MATCHES,
        "zoo": Match.MISSING,
    }
    assert bring(folder, FIGURES).is_as_published


@pytest.mark.parametrize("content", [DATA + b" ", DATA.replace(b"1", b"2"), gzip.compress(DATA + b" ")])
def test_data_of_another_size_or_content_differs(tmp_path: Path, content: bytes) -> None:
    folder = release(tmp_path / "r", {"shop": 2, "zoo": 2}, {"shop": DATA, "zoo": content})
    assert matches(folder)["zoo"] is Match.DIFFERS
    assert not bring(folder, FIGURES).is_as_published
    assert matches(folder, with_checksums=False)["zoo"] is Match.UNCHECKED


@pytest.mark.parametrize("counts", [{"shop": 3, "zoo": 2}, {"shop": 2, "other": 2}])
def test_more_records_or_other_databases_differ(tmp_path: Path, counts: dict[str, int]) -> None:
    assert matches(release(tmp_path / "r", counts, {"shop": DATA}))["TEND_lean.json"] is Match.DIFFERS


def test_a_release_is_found_below_the_folders_that_a_package_wraps_around_it(tmp_path: Path) -> None:
    release(tmp_path / "runs" / "final" / "dataset", {"shop": 2}, {"shop": DATA})
    assert bring(tmp_path, FIGURES).tasks == 2
    release(tmp_path / "runs" / "other" / "dataset", {"shop": 2}, {})
    with pytest.raises(LoadError, match="records lie in"):
        bring(tmp_path, FIGURES)


def test_documents_may_lie_elsewhere(tmp_path: Path) -> None:
    folder = release(tmp_path / "r", {"shop": 2}, {})
    other = release(tmp_path / "elsewhere", {}, {"shop": DATA}) / "mongodb_data"
    assert not bring(folder, FIGURES).imported.sources
    assert bring(folder, FIGURES, data=other).imported.sources == {"shop": other / "shop.json"}


@pytest.mark.parametrize(
    ("name", "command"),
    [("x.tar.zst", "tar -I zstd -xf"), ("x.tar.gz", "tar -xzf"), ("x.zip", "unzip"), ("X.TGZ", "tar -xzf")],
)
def test_of_a_package_it_is_said_how_to_extract_it(tmp_path: Path, name: str, command: str) -> None:
    (tmp_path / name).write_bytes(b"")
    with pytest.raises(LoadError) as caught:
        bring(tmp_path / name, FIGURES)
    assert command in caught.value.hint


@pytest.mark.parametrize(("content", "said"), [(DATA, "the published package"), (b"cut off", "download it again")])
def test_a_published_package_is_checked_before_it_is_extracted(tmp_path: Path, content: bytes, said: str) -> None:
    (tmp_path / "r.tar.zst").write_bytes(content)
    with pytest.raises(LoadError, match=said):
        bring(tmp_path / "r.tar.zst", FIGURES)


def test_damaged_compressed_data_is_an_error_that_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "shop.json.gz"
    path.write_bytes(gzip.compress(DATA)[:-9])
    with pytest.raises(LoadError, match="damaged or cut off"):
        check("shop", path, RIGHT)


def test_progress_tells_what_was_read_of_the_file_on_disk(tmp_path: Path) -> None:
    told: list[tuple[str, int, int]] = []
    folder = release(tmp_path / "r", {"shop": 2}, {"shop": DATA})
    bring(folder, FIGURES, on_file=lambda *each: told.append(each))
    assert told == [("shop", len(DATA), len(DATA))]


def test_the_figures_that_ship_name_eleven_databases_of_4_9_gibibytes() -> None:
    figures = published_figures()
    total_bytes = sum(each.size_bytes for each in figures.databases.values())
    assert (len(figures.databases), figures.records_per_database) == (11, 110)
    assert 4.9 <= total_bytes / 2**30 < 5.0
    assert all(len(each.sha256) == 64 for each in figures.databases.values())
