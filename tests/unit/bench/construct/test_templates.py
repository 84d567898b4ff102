from __future__ import annotations

import datetime as dt
from typing import Any

import pytest

from groundql.bench.construct.drafting.draft import Draft
from groundql.bench.construct.drafting.slots import human, with_article
from groundql.bench.construct.drafting.templates import TEMPLATES, draft_all
from groundql.bench.scoring.forbidden import operator_in
from groundql.bench.scoring.parsing import read
from groundql.core.catalog import Catalog
from groundql.core.finding import Finding
from groundql.core.path import Path
from groundql.core.program import ReadStatus
from groundql.languages.read import claims_of
from groundql.languages.safety import admit
from tiny_catalog import container_of

DOCUMENTS: list[dict[str, Any]] = [
    {
        "_id": f"s{n}",
        "name": f"Shop {n}",
        "kind": ("bakery", "cafe", "bar")[n % 3],
        "staff": n,
        "opened": dt.datetime(2000 + n, 1, 1),
        "tags": ["open", "new"][: n % 3],
        "visits": [{"day": ("mon", "tue")[n % 2], "guests": n}],
        "sales": {
            str(2000 + n % 5): {"sum": n * 10, "state": ("paid", "due")[n % 2]},
            "2020": {"sum": 1, "state": "due"},
        },
        "phone": ["1", "2"] if n % 2 else "3",
        **({"note": "closed"} if n % 4 == 0 else {}),
    }
    for n in range(24)
]
CATALOG = Catalog("tiny", (container_of("shops", DOCUMENTS, ["sales"]),))
DRAFTS = list(draft_all(CATALOG))


def test_there_are_twenty_templates_and_nearly_all_find_their_fields_in_a_small_collection() -> None:
    assert len(TEMPLATES) >= 20
    drafted = {draft.template for draft in DRAFTS}
    assert {template.__name__ for template in TEMPLATES} - drafted <= {"variant_fields"}


@pytest.mark.parametrize("draft", DRAFTS, ids=[f"{n}-{draft.template}" for n, draft in enumerate(DRAFTS)])
def test_a_draft_is_plain_json_that_may_run_and_reads_only_what_is_there(draft: Draft) -> None:
    program = read(draft.mql)
    assert not isinstance(admit(program), Finding)
    assert not operator_in(program)
    odd = {ReadStatus.ABSENT, ReadStatus.DROPPED, ReadStatus.EARLY}
    assert [r for r in claims_of(program, CATALOG).reads if r.status in odd] == []


def test_the_same_catalog_gives_the_same_drafts() -> None:
    assert list(draft_all(CATALOG)) == DRAFTS


def test_the_first_drafts_are_of_different_templates() -> None:
    assert len({draft.template for draft in DRAFTS[:10]}) == 10


def test_a_path_is_called_by_its_words() -> None:
    assert human(Path.parse("profile.firstName")) == "first name of profile"
    assert with_article("emoticon") == "an emoticon"
