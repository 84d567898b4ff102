from __future__ import annotations

import datetime as dt

import pytest

from groundql.errors import InputError
from groundql.grounding.dates import dates_of

TODAY = dt.date(2024, 3, 31)


@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("orders last month", "2024-02-01", "2024-03-01"),
        ("this year", "2024-01-01", "2025-01-01"),
        ("since yesterday", "2024-03-30", "2024-03-31"),
        ("past 7 days", "2024-03-25", "2024-04-01"),
        ("the last three months", "2024-01-01", "2024-04-01"),
        ("last week", "2024-03-18", "2024-03-25"),
        ("last quarter", "2023-10-01", "2024-01-01"),
        ("a month ago", "2024-02-29", "2024-03-01"),
        ("last Monday", "2024-03-25", "2024-03-26"),
        ("year to date", "2024-01-01", "2024-04-01"),
        ("in Q2 2014", "2014-04-01", "2014-07-01"),
        ("the second half of 2014", "2014-07-01", "2015-01-01"),
        ("March 2014", "2014-03-01", "2014-04-01"),
        ("2014-03 totals", "2014-03-01", "2014-04-01"),
        ("on 2014-03-05", "2014-03-05", "2014-03-06"),
        ("05.03.2014", "2014-03-05", "2014-03-06"),
        ("03/25/2014", "2014-03-25", "2014-03-26"),
        ("the 5th of March 2014", "2014-03-05", "2014-03-06"),
        ("March 5, 2014", "2014-03-05", "2014-03-06"),
        ("in the 1990s", "1990-01-01", "2000-01-01"),
    ],
)
def test_a_date_is_resolved_to_its_days(text: str, start: str, end: str) -> None:
    (found,) = dates_of(text, TODAY)
    assert (str(found.start), str(found.end)) == (start, end)


@pytest.mark.parametrize("text", ["2014-13-01", "30 February 2014", "03/04/2014", "last 5 movies", "in 2014", "in May"])
def test_what_is_no_single_date_is_left_alone(text: str) -> None:
    assert dates_of(text, TODAY) == ()


def test_the_bounds_follow_the_time_zone_over_the_change_of_clocks() -> None:
    (found,) = dates_of("past 7 days", TODAY, "Europe/Berlin")
    assert found.start_utc.isoformat() == "2024-03-24T23:00:00+00:00"
    assert found.end_utc.isoformat() == "2024-03-31T22:00:00+00:00"
    assert "< 2024-03-31T22:00:00Z" in str(found)


def test_an_unknown_time_zone_is_one_clear_error() -> None:
    with pytest.raises(InputError, match="unknown time zone 'Mars/Base'"):
        dates_of("today", TODAY, "Mars/Base")


def test_dates_far_out_of_range_do_not_break_the_reading() -> None:
    assert dates_of("999 years ago", dt.date(500, 1, 1)) == ()
