"""Answers to the later tasks of the world atlas, in plain Python over its documents."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from itertools import pairwise

from integration.world_answers import Answers, Document, Documents, by_id, count, order

ANSWERS = Answers()


def periods(world: Documents, *, tender: bool = True) -> Iterator[tuple[Document, Document]]:
    """Give every currency period with its territory; by default without those marked as non-tender."""
    for territory in world["territories"]:
        for period in territory["currencies"]:
            if not tender or period.get("tender", True):
                yield territory, period


def day(moment: datetime) -> str:
    """Write a date as YYYY-MM-DD."""
    return moment.date().isoformat()


def descend(regions: dict[str, Document], code: str) -> set[str]:
    """Give everything that a region contains at any depth."""
    found: set[str] = set()
    for part in regions[code]["contains"]:
        found |= {part} | (descend(regions, part) if part in regions else set())
    return found


@ANSWERS.to(20016)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "quantity": u["_id"],
            "usages": len(u["units_by_usage"]),
            "territories": len({code for by_code in u["units_by_usage"].values() for code in by_code}),
        }
        for u in world["unit_preferences"]
    ]
    return order(rows, "-territories", "quantity")


@ANSWERS.to(20017)
def _(world: Documents) -> list[Document]:
    territories = by_id(world["territories"])
    wind = by_id(world["unit_preferences"])["speed"]["units_by_usage"]["wind"]
    rows = [
        {"code": code, "territory": territories[code]["name"]}
        for code, units in wind.items()
        if units[0]["unit"] == "meter-per-second"
    ]
    return order(rows, "territory")


@ANSWERS.to(20018)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["name"], "zones": t["time_zones"]["E. Africa Standard Time"]}
        for t in world["territories"]
        if "E. Africa Standard Time" in t.get("time_zones", {})
    ]
    return order(rows, "territory")


@ANSWERS.to(20019)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for t in world["territories"]:
        english = t["languages"].get("en", {})
        if "official_status" in english and english["population_percent"] < 5:
            status, percent = english["official_status"], english["population_percent"]
            rows.append({"territory": t["name"], "status": status, "percent": percent})
    return order(rows, "percent", "territory")


@ANSWERS.to(20020)
def _(world: Documents) -> list[Document]:
    found = {
        (code.split("_")[1], code, t["_id"]) for t in world["territories"] for code in t["languages"] if "_" in code
    }
    rows = [
        {
            "suffix": suffix,
            "territories": len({t for s, _, t in found if s == suffix}),
            "languages": len({code for s, code, _ in found if s == suffix}),
        }
        for suffix in {s for s, _, _ in found}
    ]
    return order(rows, "-territories", "suffix")


@ANSWERS.to(20021)
def _(world: Documents) -> list[Document]:
    cardinals = {language["name"]: language.get("plurals", {}).get("cardinal", {}) for language in world["languages"]}
    assert len(cardinals) == len(world["languages"])
    rows = [
        {"language": name, "two": rules["two"]}
        for name, rules in cardinals.items()
        if "two" in rules and rules.get("one") == "n = 1"
    ]
    return order(rows, "language")


@ANSWERS.to(20022)
def _(world: Documents) -> list[Document]:
    cardinals = (language.get("plurals", {}).get("cardinal", {}) for language in world["languages"])
    return count((rules["few"] for rules in cardinals if "few" in rules), "rule", "languages", least=2)


@ANSWERS.to(20023)
def _(world: Documents) -> list[Document]:
    found: dict[str, list[Document]] = defaultdict(list)
    for language in world["languages"]:
        for period, hours in language.get("day_periods", {}).items():
            found[period].append(hours)
    rows = [
        {
            "period": period,
            "moments": sum("at" in h for h in hours),
            "spans": sum("from" in h for h in hours),
            "earliest": min((h["from"] for h in hours if "from" in h), default=None),
        }
        for period, hours in found.items()
    ]
    return order(rows, "period")


@ANSWERS.to(20024)
def _(world: Documents) -> list[Document]:
    usages = by_id(world["unit_preferences"])["length"]["units_by_usage"]
    return [{"units": {usage: units["GB"][0]["unit"] for usage, units in usages.items() if "GB" in units}}]


@ANSWERS.to(20025)
def _(world: Documents) -> list[Document]:
    names = {r["_id"]: r["name"] for r in world["regions"]}
    totals = Counter(t["region"] for t in world["territories"] if t["region"])
    silent = Counter(t["region"] for t in world["territories"] if "week" not in t)
    rows = [
        {"region": names[code], "territories": n, "without_week": silent[code]}
        for code, n in totals.items()
        if silent[code] >= 5
    ]
    return order(rows, "-without_week", "region")


@ANSWERS.to(20026)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["name"], "calendars": t["calendars"]}
        for t in world["territories"]
        if t.get("calendars", ["gregorian"])[0] != "gregorian"
    ]
    return order(rows, "territory")


@ANSWERS.to(20027)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "territory": t["name"],
            "min_days": t["week"].get("min_days"),
            "weekend_start": t["week"].get("weekend_start"),
        }
        for t in world["territories"]
        if "first_day" not in t.get("week", {"first_day": None})
    ]
    return order(rows, "territory")


@ANSWERS.to(20028)
def _(world: Documents) -> list[Document]:
    names = {
        ("narrow", "standard"): "both",
        ("standard",): "standard only",
        ("narrow",): "narrow only",
        (): "none",
    }
    found = Counter(names[tuple(sorted(c["symbols"] or {}))] for c in world["currencies"])
    return order([{"symbols": name, "currencies": n} for name, n in found.items()], "-currencies")


@ANSWERS.to(20029)
def _(world: Documents) -> list[Document]:
    lacking = [p for p in world["places"] if p["kind"] == "airport" and "subdivision" not in p]
    nowhere = Counter(p["country"] for p in lacking if p["city"] is None)
    rows = count((p["country"] for p in lacking), "country", "airports")[:8]
    return [row | {"without_city": nowhere[row["country"]]} for row in rows]


@ANSWERS.to(20030)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "language": language["name"],
            "has_day_periods": "day_periods" in language,
            "has_ordinal": "ordinal" in language.get("plurals", {}),
        }
        for language in world["languages"]
        if "writing" not in language
    ]
    return order(rows, "language")


@ANSWERS.to(20031)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["name"], "since": day(c["from"])}
        for t, c in periods(world, tender=False)
        if c["code"] == "EUR" and c["from"].year >= 2005
    ]
    return order(rows, "since", "territory")


@ANSWERS.to(20032)
def _(world: Documents) -> list[Document]:
    names = {c["_id"]: c["name"] for c in world["currencies"]}
    running = sorted(
        (c["from"], t["name"], c["code"]) for t, c in periods(world, tender=False) if c["to"] is None and "from" in c
    )
    return [
        {"territory": territory, "currency": names[code], "since": start.year} for start, territory, code in running[:6]
    ]


@ANSWERS.to(20033)
def _(world: Documents) -> list[Document]:
    ended = [(c["to"].year // 10 * 10, t["_id"]) for t, c in periods(world) if c["to"]]
    return [
        {"decade": decade, "ended": n, "territories": len({t for d, t in ended if d == decade})}
        for decade, n in sorted(Counter(d for d, _ in ended).items())
        if decade >= 1940
    ]


@ANSWERS.to(20034)
def _(world: Documents) -> list[Document]:
    moment = datetime(1990, 1, 1, tzinfo=UTC)
    used = {
        (c["code"], t["_id"])
        for t, c in periods(world, tender=False)
        if "from" in c and c["from"] <= moment and (c["to"] is None or c["to"] > moment)
    }
    return count((code for code, _ in used), "code", "territories", least=5)


@ANSWERS.to(20035)
def _(world: Documents) -> list[Document]:
    territories = by_id(world["territories"])
    rows: list[Document] = []
    for code in by_id(world["regions"])["EZ"]["contains"]:
        earlier = [c for c in territories[code]["currencies"] if c["code"] != "EUR" and c.get("tender", True)]
        assert all(c["to"] for c in earlier)
        latest = max(c["to"] for c in earlier)
        (last,) = [c for c in earlier if c["to"] == latest]
        rows.append({"territory": territories[code]["name"], "previous": last["code"], "until": day(latest)})
    return order(rows, "until", "territory")


@ANSWERS.to(20036)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["name"], "code": c["code"], "days": (c["to"] - c["from"]).days}
        for t, c in periods(world, tender=False)
        if c["to"] and "from" in c
    ]
    ranked = sorted(rows, key=lambda row: -row["days"])
    assert ranked[4]["days"] > ranked[5]["days"]
    return order(ranked[:5], "-days")


@ANSWERS.to(20037)
def _(world: Documents) -> list[Document]:
    found = Counter((t["name"], c["code"]) for t, c in periods(world, tender=False))
    return [
        {"territory": territory, "code": code, "periods": n} for (territory, code), n in sorted(found.items()) if n > 1
    ]


@ANSWERS.to(20038)
def _(world: Documents) -> list[Document]:
    years = [
        c["from"].year
        for _, c in periods(world, tender=False)
        if c["code"] == "USD" and c["to"] is None and "from" in c
    ]
    return [
        {"year": year, "began": years.count(year), "total": sum(y <= year for y in years)}
        for year in sorted(set(years))
    ]


@ANSWERS.to(20039)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for kind in ("airport", "city"):
        found = [p for p in world["places"] if p["kind"] == kind]
        latitude = min(p["location"]["coordinates"][1] for p in found)
        (lowest,) = [p for p in found if p["location"]["coordinates"][1] == latitude]
        rows.append({"kind": kind, "places": len(found), "southernmost": lowest["name"], "latitude": latitude})
    return rows


@ANSWERS.to(20040)
def _(world: Documents) -> list[Document]:
    codes: dict[tuple[str | None, str], list[str]] = defaultdict(list)
    for p in world["places"]:
        if p["kind"] == "airport":
            codes[p["city"], p["country"]].append(p["codes"]["iata"])
    rows = [
        {"city": p["name"], "airports": sorted(codes[p["name"], p["country"]])}
        for p in world["places"]
        if p["kind"] == "city" and p["population"] >= 11_000_000
    ]
    return order(rows, "city")


@ANSWERS.to(20041)
def _(world: Documents) -> list[Document]:
    sizes = [p["population"] for p in world["places"] if p["kind"] == "city"]
    bounds = [100_000, 250_000, 500_000, 1_000_000, 5_000_000, max(sizes) + 1]
    rows: list[Document] = []
    for low, high in pairwise(bounds):
        within = [size for size in sizes if low <= size < high]
        rows.append({"at_least": low, "cities": len(within), "largest": max(within)})
    assert sum(row["cities"] for row in rows) == len(sizes)
    return rows


@ANSWERS.to(20042)
def _(world: Documents) -> list[Document]:
    measured = [(t["name"], t["measurement"]) for t in world["territories"] if "measurement" in t]
    rows = [
        {"territory": name, "temperature": m.get("temperature"), "system": m.get("system")}
        for name, m in measured
        if m.get("paper_size") == "US-Letter"
    ]
    return order(rows, "territory")


@ANSWERS.to(20043)
def _(world: Documents) -> list[Document]:
    found = (
        p["country"]
        for p in world["places"]
        if p["kind"] == "airport" and p["codes"].get("lid", p["codes"]["iata"]) != p["codes"]["iata"]
    )
    return count(found, "country", "airports", least=2)


@ANSWERS.to(20044)
def _(world: Documents) -> list[Document]:
    rows = [
        {"territory": t["name"], "known": sorted(t["codes"])}
        for t in world["territories"]
        if not {"numeric", "alpha3"} <= t["codes"].keys()
    ]
    return order(rows, "territory")


@ANSWERS.to(20045)
def _(world: Documents) -> list[Document]:
    regions, territories = by_id(world["regions"]), by_id(world["territories"])
    rows: list[Document] = []
    for code in regions["001"]["contains"]:
        members = descend(regions, code) & territories.keys()
        population = sum(territories[member]["population"] for member in members)
        rows.append({"region": regions[code]["name"], "territories": len(members), "population": population})
    return order(rows, "-population")
