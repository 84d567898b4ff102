"""What the questions about the sample world `releases` come to, in plain Python over its documents."""

from __future__ import annotations

from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator
from datetime import date, datetime
from itertools import accumulate, pairwise
from typing import Any

Document = dict[str, Any]
Documents = dict[str, list[Document]]
Answer = Callable[[Documents], list[Document]]

ANSWERS: dict[int, Answer] = {}


def answers(record_id: int) -> Callable[[Answer], Answer]:
    """Keep the function as the answer to one question."""

    def keep(answer: Answer) -> Answer:
        ANSWERS[record_id] = answer
        return answer

    return keep


# --- what the answers share ---------------------------------------------------------------------


def events(world: Documents) -> Iterator[tuple[int, Document]]:
    """Every release as an event of its line, in order of time within the line."""
    for line in world["release_lines"]:
        dates = [event["published_at"] for event in line["events"]]
        assert dates == sorted(set(dates)), "two releases of a line at the same instant leave their order open"
        for event in line["events"]:
            yield line["_id"], event


def staged(world: Documents, stage: str) -> dict[int, list[Document]]:
    """The events of one stage by line, for the lines that have any."""
    found: dict[int, list[Document]] = defaultdict(list)
    for line, event in events(world):
        if event["stage"]["name"] == stage:
            found[line].append(event)
    return found


def days(earlier: datetime, later: datetime) -> int:
    return (later.date() - earlier.date()).days


def most_downloaded(found: list[Document], place: int = 0) -> Document:
    """The event at a place by downloads; nobody shares its number."""
    ranked = sorted(found, key=lambda event: event["total_downloads"], reverse=True)
    assert [event["total_downloads"] for event in found].count(ranked[place]["total_downloads"]) == 1
    return ranked[place]


def ranked(rows: Iterable[Document], number: str, *others: str, limit: int | None = None) -> list[Document]:
    """Rows with the highest number first, then by the other columns; a cut through equals is an error."""
    found = sorted(rows, key=lambda row: (-row[number], *(row[other] for other in others)))
    keys = [(row[number], *(row[other] for other in others)) for row in found]
    assert len(set(keys)) == len(keys), "rows that nothing puts in order"
    return found[:limit]


def changes(world: Documents, component: str) -> Iterator[tuple[int, Document]]:
    for found in world["components"]:
        if found["_id"] == component:
            for line, steps in found["changes_by_line"].items():
                for step in steps:
                    yield int(line), step


def items(release: Document) -> Iterator[tuple[Document, Document]]:
    notes = release.get("notes", [])
    for section in notes if isinstance(notes, list) else []:
        for item in section["items"]:
            yield section, item


def with_and_without(found: Iterable[tuple[Any, bool]], key: str) -> list[Document]:
    counts = Counter(found)
    return [
        {key: value, "with": counts[value, True], "without": counts[value, False]}
        for value in sorted({value for value, _ in counts})
    ]


# --- events of release lines --------------------------------------------------------------------


@answers(60001)
def _(world: Documents) -> list[Document]:
    return [
        {"line": line, "alphas": len(found), "first": found[0]["published_at"], "last": found[-1]["published_at"]}
        for line, found in staged(world, "alpha").items()
    ]


@answers(60002)
def _(world: Documents) -> list[Document]:
    betas, stable = staged(world, "beta"), staged(world, "stable")
    both = ((line, betas[line][0]["published_at"], stable[line][0]["published_at"]) for line in betas.keys() & stable)
    return ranked(({"line": line, "days": days(beta, s)} for line, beta, s in both if beta < s), "days", "line")


@answers(60003)
def _(world: Documents) -> list[Document]:
    tops = {line["_id"]: most_downloaded(line["events"]) for line in world["release_lines"] if line["_id"] >= 10}
    return [{"line": n, "version": e["version"], "downloads": e["total_downloads"]} for n, e in sorted(tops.items())]


@answers(60004)
def _(world: Documents) -> list[Document]:
    found = Counter(event["published_at"].isoweekday() for event in staged(world, "nightly")[18])
    return [{"weekday": weekday, "nightlies": n} for weekday, n in sorted(found.items())]


@answers(60005)
def _(world: Documents) -> list[Document]:
    rows = [
        {
            "line": line,
            "previous": before["version"],
            "version": event["version"],
            "days": days(before["published_at"], event["published_at"]),
        }
        for line, found in staged(world, "stable").items()
        for before, event in pairwise(found)
    ]
    rows.sort(key=lambda row: (-row["days"], row["line"]))
    keys = [(row["days"], row["line"]) for row in rows[:6]]
    assert len(set(keys)) == 6
    return rows[:5]


@answers(60006)
def _(world: Documents) -> list[Document]:
    found = Counter(event["published_at"].year for kept in staged(world, "stable").values() for event in kept)
    years = sorted(found.items())
    totals = accumulate(n for _, n in years)
    return [{"year": y, "stable": n, "running_total": total} for (y, n), total in zip(years, totals, strict=True)]


@answers(60007)
def _(world: Documents) -> list[Document]:
    found = ((event["version"], event["reactions"]) for _, event in events(world) if "reactions" in event)
    rows = [
        {"version": version, "reactions": r["total_count"], "rockets": r["rocket"]}
        for version, r in found
        if r["total_count"] >= 30
    ]
    return ranked(rows, "reactions", "version")


@answers(60008)
def _(world: Documents) -> list[Document]:
    flags = {line["_id"]: [event["prerelease"] for event in line["events"]] for line in world["release_lines"]}
    shares = {line: sum(found) / len(found) for line, found in flags.items()}
    kept = sorted((share, line) for line, share in shares.items() if share < 0.6)
    return [{"line": line, "share": round(share, 3)} for share, line in kept]


@answers(60009)
def _(world: Documents) -> list[Document]:
    rows: dict[int, Document] = {}
    for line, event in events(world):
        node = event.get("deps", {}).get("node", "")
        if node.startswith("16."):
            day = event["published_at"].date().isoformat()
            rows.setdefault(line, {"line": line, "version": event["version"], "node": node, "day": day})
    return list(rows.values())


@answers(60010)
def _(world: Documents) -> list[Document]:
    majors: dict[int, set[int]] = defaultdict(set)
    for line, event in events(world):
        if "deps" in event:
            majors[line].add(int(event["deps"]["chrome"].partition(".")[0]))
    return [{"line": line, "majors": sorted(found)} for line, found in majors.items() if len(found) >= 4]


@answers(60011)
def _(world: Documents) -> list[Document]:
    counts = Counter((line, event["stage"]["name"]) for line, event in events(world))
    stages = ("nightly", "alpha", "beta", "stable")
    return [{"line": line, **{stage: counts[line, stage] for stage in stages}} for line in range(15, 24)]


@answers(60012)
def _(world: Documents) -> list[Document]:
    rows = [
        {"line": line, "downloads": sum(event["total_downloads"] for event in found), "releases": len(found)}
        for line, found in staged(world, "stable").items()
    ]
    return ranked(rows, "downloads", limit=5)


@answers(60013)
def _(world: Documents) -> list[Document]:
    bounds = [0, 1_000, 10_000, 100_000, 1_000_000]
    found = [(bounds[bisect_right(bounds, e["total_downloads"]) - 1], e["stage"]["name"]) for _, e in events(world)]
    return [
        {
            "from": bound,
            "releases": sum(at == bound for at, _ in found),
            "stable": found.count((bound, "stable")),
        }
        for bound in bounds
    ]


@answers(60014)
def _(world: Documents) -> list[Document]:
    months: dict[str, list[int]] = defaultdict(list)
    for line, found in staged(world, "stable").items():
        for event in found:
            months[event["published_at"].strftime("%Y-%m")].append(line)
    return [
        {"month": month, "releases": len(lines), "lines": len(set(lines))}
        for month, lines in sorted(months.items())
        if month.startswith("2021")
    ]


# --- changes of components ----------------------------------------------------------------------


@answers(60015)
def _(world: Documents) -> list[Document]:
    found = Counter(line for line, step in changes(world, "chrome") if "from" in step and line >= 10)
    return ranked(({"line": line, "changes": n} for line, n in found.items()), "changes", "line")


@answers(60016)
def _(world: Documents) -> list[Document]:
    # From the events, not from the stored changes.
    rows: list[tuple[datetime, Document]] = []
    for line in world["release_lines"]:
        for before, event in pairwise(event for event in line["events"] if "deps" in event):
            old, new = before["deps"]["node"], event["deps"]["node"]
            if old.partition(".")[0] != new.partition(".")[0] and event["published_at"].year >= 2019:
                rows.append((event["published_at"], {"release": event["version"], "from": old, "to": new}))
    return [row for _, row in sorted(rows, key=lambda pair: pair[0])]


@answers(60017)
def _(world: Documents) -> list[Document]:
    # From the events, not from the stored changes.
    rows: list[Document] = []
    for line in world["release_lines"]:
        for before, event in pairwise(event for event in line["events"] if "deps" in event):
            changed = sorted(name for name, version in event["deps"].items() if before["deps"][name] != version)
            if line["_id"] >= 5 and len(changed) >= 4:
                rows.append({"release": event["version"], "components": changed})
    return sorted(rows, key=lambda row: (-len(row["components"]), row["release"]))


@answers(60018)
def _(world: Documents) -> list[Document]:
    steps = [step for line, step in changes(world, "node") if line == 12]
    return [
        {"node": step["to"], "since": step["release"], "days": days(step["published_at"], after["published_at"])}
        for step, after in pairwise(steps)
    ]


# --- notes and pull requests --------------------------------------------------------------------


@answers(60019)
def _(world: Documents) -> list[Document]:
    found = (
        (pull["_id"], list(dict.fromkeys(m["release"] for m in pull["mentions"]))) for pull in world["pull_requests"]
    )
    return [{"pull": number, "releases": releases} for number, releases in found if len(releases) >= 4]


@answers(60020)
def _(world: Documents) -> list[Document]:
    # From the notes, not from the stored mentions.
    dates = {event["version"]: event["published_at"] for _, event in events(world)}
    naming: dict[int, list[str]] = defaultdict(list)
    for release in sorted(world["releases"], key=lambda found: dates[found["_id"]]):
        for _, item in items(release):
            for part in (item, *item.get("details", [])):
                for number in part.get("pulls", []):
                    naming[number].append(release["_id"])
    rows = [
        {"pull": number, "first": found[0], "last": found[-1], "days": days(dates[found[0]], dates[found[-1]])}
        for number, found in naming.items()
    ]
    return ranked(rows, "days", "pull", limit=5)


@answers(60021)
def _(world: Documents) -> list[Document]:
    found = Counter(s["section"] for r in world["releases"] if r["line"] == 21 for s, _ in items(r))
    return ranked(({"section": section, "items": n} for section, n in found.items()), "items", "section")


@answers(60022)
def _(world: Documents) -> list[Document]:
    found = Counter(r["_id"] for r in world["releases"] for _, item in items(r) if "[SECURITY]" in item["text"])
    rows = [{"version": version, "security_items": n} for version, n in found.items() if n >= 2]
    return ranked(rows, "security_items", "version")


@answers(60023)
def _(world: Documents) -> list[Document]:
    rows = [
        {"version": r["_id"], "item": item["text"], "details": len(item["details"])}
        for r in world["releases"]
        for _, item in items(r)
        if len(item.get("details", [])) >= 6
    ]
    return ranked(rows, "details", "version", "item")


@answers(60024)
def _(world: Documents) -> list[Document]:
    found = Counter(
        line for r in world["releases"] if r["line"] == 20 for _, item in items(r) for line in item.get("also_in", {})
    )
    return ranked(({"line": line, "items": n} for line, n in found.items()), "items")


@answers(60025)
def _(world: Documents) -> list[Document]:
    lengths = {r["_id"]: sum(1 for _ in items(r)) for r in world["releases"]}
    stable = staged(world, "stable")[13]
    top = [most_downloaded(stable, place) for place in range(3)]
    return [{"version": e["version"], "downloads": e["total_downloads"], "items": lengths[e["version"]]} for e in top]


# --- more of the events -------------------------------------------------------------------------


@answers(60026)
def _(world: Documents) -> list[Document]:
    # From the publishers' own lists of versions.
    found: dict[int, set[str]] = defaultdict(set)
    for account in world["publishers"]:
        for stages in account["versions_by_year"].values():
            for versions in stages.values():
                for version in versions:
                    found[int(version.partition(".")[0])].add(account["_id"])
    return [{"line": line, "publishers": sorted(names)} for line, names in sorted(found.items()) if len(names) > 1]


@answers(60027)
def _(world: Documents) -> list[Document]:
    found: dict[date, list[int]] = defaultdict(list)
    for line, kept in staged(world, "stable").items():
        for event in kept:
            found[event["published_at"].date()].append(line)
    return [
        {"day": day.isoformat(), "releases": len(lines), "lines": sorted(set(lines))}
        for day, lines in sorted(found.items())
        if len(lines) >= 4
    ]


@answers(60028)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for line in world["release_lines"]:
        names = [event["stage"]["name"] for event in line["events"]]
        if "stable" in names:
            at = names.index("stable")
            later = sum(name != "stable" for name in names[at:])
            rows.append({"line": line["_id"], "first_stable": line["events"][at]["version"], "later": later})
    return [row for row in rows if row["later"]]


@answers(60029)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for line, found in staged(world, "beta").items():
        numbers = [e["stage"]["number"] for e in found if e["version"].startswith(f"{line}.0.0-")]
        if numbers:
            missing = max(numbers) - len(numbers)
            rows.append({"line": line, "betas": len(numbers), "highest": max(numbers), "missing": missing})
    return ranked((row for row in rows if row["missing"] > 0), "missing", "line")


@answers(60030)
def _(world: Documents) -> list[Document]:
    found = Counter(
        line
        for line, kept in staged(world, "nightly").items()
        for event in kept
        if event["published_at"].date() != event["stage"]["day"].date()
    )
    return ranked(({"line": line, "nightlies": n} for line, n in found.items()), "nightlies", "line")


@answers(60031)
def _(world: Documents) -> list[Document]:
    stable = staged(world, "stable")
    third = {line: most_downloaded(stable[line], 2) for line in range(14, 22)}
    return [{"line": line, "version": e["version"], "downloads": e["total_downloads"]} for line, e in third.items()]


@answers(60032)
def _(world: Documents) -> list[Document]:
    found: dict[str, list[int]] = defaultdict(list)
    for line, kept in staged(world, "stable").items():
        found[kept[-1]["deps"]["openssl"]].append(line)
    rows = [{"openssl": openssl, "lines": sorted(lines)} for openssl, lines in found.items()]
    return sorted(rows, key=lambda row: (-len(row["lines"]), row["openssl"]))


@answers(60033)
def _(world: Documents) -> list[Document]:
    names = {line["_id"]: [event["stage"]["name"] for event in line["events"]] for line in world["release_lines"]}
    before = {line: found.index("stable") for line, found in names.items() if "stable" in found}
    return ranked(({"line": line, "before": n} for line, n in before.items() if n > 70), "before", "line")


@answers(60034)
def _(world: Documents) -> list[Document]:
    found: dict[str, list[datetime]] = defaultdict(list)
    for kept in staged(world, "stable").values():
        for event in kept:
            found[event.get("package", "none")].append(event["published_at"])
    return [
        {
            "package": package,
            "releases": len(dates),
            "first": min(dates).date().isoformat(),
            "last": max(dates).date().isoformat(),
        }
        for package, dates in sorted(found.items(), key=lambda pair: min(pair[1]))
    ]


@answers(60035)
def _(world: Documents) -> list[Document]:
    totals: Counter[int] = Counter()
    for line, event in events(world):
        totals[line] += event["total_downloads"]
    last = {line: found[-1] for line, found in staged(world, "stable").items()}
    rows = [
        {"line": line, "version": e["version"], "percent": round(100 * e["total_downloads"] / totals[line], 1)}
        for line, e in last.items()
        if e["total_downloads"] * 5 > totals[line]
    ]
    return ranked(rows, "percent")


@answers(60036)
def _(world: Documents) -> list[Document]:
    # From the publishers' own lists of versions.
    counts: Counter[tuple[str, str]] = Counter()
    for account in world["publishers"]:
        for year, stages in account["versions_by_year"].items():
            counts[year, account["type"]] += sum(map(len, stages.values()))
    years = sorted({year for year, _ in counts})
    return [{"year": int(year), "bot": counts[year, "Bot"], "user": counts[year, "User"]} for year in years]


@answers(60037)
def _(world: Documents) -> list[Document]:
    timeline = [(event["published_at"], "release", event["version"]) for event in staged(world, "stable")[17]]
    timeline += [(step["published_at"], "chrome", step["to"]) for line, step in changes(world, "chrome") if line == 17]
    return [
        {"at": at, "kind": kind, "what": what}
        for at, kind, what in sorted(timeline)
        if (at.year, at.month) == (2022, 3)
    ]


@answers(60038)
def _(world: Documents) -> list[Document]:
    found: dict[int, list[Document]] = defaultdict(list)
    for kept in staged(world, "stable").values():
        for event in kept:
            found[event["published_at"].year].append(event)
    tops = ((year, most_downloaded(kept)) for year, kept in sorted(found.items()))
    return [{"year": year, "version": e["version"], "downloads": e["total_downloads"]} for year, e in tops]


@answers(60039)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for line, found in staged(world, "nightly").items():
        numbers = [event["total_downloads"] for event in found]
        average = sum(numbers) // len(numbers)
        top = most_downloaded(found)
        rows.append({"line": line, "average": average, "version": top["version"], "downloads": max(numbers)})
    return [row for row in rows if 10 <= row["line"] <= 20]


@answers(60040)
def _(world: Documents) -> list[Document]:
    stable = {line: found for line, found in staged(world, "stable").items() if line >= 1}
    counts = Counter({line: len(found) for line, found in stable.items()})
    newest = max((event for found in stable.values() for event in found), key=lambda event: event["published_at"])
    (busiest, most), (_, next_most) = counts.most_common(2)
    assert most > next_most
    return [{"stable": counts.total(), "newest": newest["version"], "busiest": busiest}]


# --- what is missing ----------------------------------------------------------------------------


@answers(60041)
def _(world: Documents) -> list[Document]:
    counts = Counter((line, "deps" in event) for line, event in events(world))
    return [
        {"line": line, "without": n, "releases": n + counts[line, True]}
        for (line, told), n in sorted(counts.items())
        if not told
    ]


@answers(60042)
def _(world: Documents) -> list[Document]:
    rows = [{"line": line["_id"], "tags": len(line.get("npm_tags", {}))} for line in world["release_lines"]]
    return sorted(rows, key=lambda row: (row["tags"], row["line"]))


@answers(60043)
def _(world: Documents) -> list[Document]:
    rows = [
        {"version": r["_id"], "title": r["title"]}
        for r in world["releases"]
        if "notes" not in r and "-nightly" not in r["_id"]
    ]
    return sorted(rows, key=lambda row: row["version"])


@answers(60044)
def _(world: Documents) -> list[Document]:
    recent = (e for _, e in events(world) if e["published_at"].date() >= date(2021, 12, 1))
    return with_and_without(((e["stage"]["name"], "reactions" in e) for e in recent), "stage")


@answers(60045)
def _(world: Documents) -> list[Document]:
    sections = [s for r in world["releases"] if r["line"] == 0 for s in r["notes"]]
    lengths: dict[str, list[int]] = defaultdict(list)
    for section in sections:
        lengths[section.get("platform", "any")].append(len(section["items"]))
    rows = [{"platform": p, "sections": len(found), "items": sum(found)} for p, found in lengths.items()]
    return sorted(rows, key=lambda row: (-row["sections"], row["platform"]))


@answers(60046)
def _(world: Documents) -> list[Document]:
    pulls = (pull for pull in world["pull_requests"] if 30_000 <= pull["_id"] < 35_000)
    return with_and_without(((pull["_id"] // 1_000, "backports" in pull) for pull in pulls), "thousand")


@answers(60047)
def _(world: Documents) -> list[Document]:
    # From the events, not from the stored changes.
    firsts: dict[int, Document] = {}
    for line, event in events(world):
        firsts.setdefault(line, {"line": line, "node": event.get("deps", {}).get("node"), "release": event["version"]})
    return [row for line, row in firsts.items() if line >= 10]


@answers(60048)
def _(world: Documents) -> list[Document]:
    counts = Counter(("builds" in r, "files" in r) for r in world["releases"])
    return ranked(({"builds": b, "files": f, "releases": n} for (b, f), n in counts.items()), "releases")


@answers(60049)
def _(world: Documents) -> list[Document]:
    totals = Counter(r["line"] for r in world["releases"])
    targets = ((r["line"], r.get("builds", {}).keys()) for r in world["releases"])
    without = Counter(line for line, found in targets if "linux-x64" in found and "linux-ia32" not in found)
    return [{"line": line, "without": n, "releases": totals[line]} for line, n in sorted(without.items())]


# --- maps ---------------------------------------------------------------------------------------


@answers(60050)
def _(world: Documents) -> list[Document]:
    found: dict[str, list[int]] = defaultdict(list)
    for r in world["releases"]:
        for target, products in r.get("builds", {}).items():
            found[target].append(len(products))
    rows = [{"target": target, "releases": len(sizes), "products": max(sizes)} for target, sizes in found.items()]
    return ranked(rows, "releases", "target")


@answers(60051)
def _(world: Documents) -> list[Document]:
    totals: Counter[str] = Counter()
    for r in world["releases"]:
        for target, products in r.get("builds", {}).items():
            if r["line"] == 18 and "electron" in products:
                totals[target] += products["electron"]["downloads"]
    return ranked(({"target": target, "downloads": n} for target, n in totals.items()), "downloads")


@answers(60052)
def _(world: Documents) -> list[Document]:
    downloads = {event["version"]: event["total_downloads"] for _, event in events(world)}
    tags = ((t, version) for line in world["release_lines"] for t, version in line.get("npm_tags", {}).items())
    rows = [{"tag": t, "version": v, "downloads": downloads[v]} for t, v in tags if t.startswith("beta-")]
    return ranked(rows, "downloads")


@answers(60053)
def _(world: Documents) -> list[Document]:
    # From the events, not from the account's own lists.
    found = Counter(
        (str(event["published_at"].year), event["stage"]["name"])
        for _, event in events(world)
        if event["publisher"] == "electron-bot"
    )
    return [{"year": year, "stage": stage, "versions": n} for (year, stage), n in sorted(found.items())]


@answers(60054)
def _(world: Documents) -> list[Document]:
    found: dict[str, list[int]] = defaultdict(list)
    for r in world["releases"]:
        for name, file in r.get("files", {}).items():
            found[name].append(file["downloads"])
    rows = [{"file": name, "releases": len(ns), "downloads": sum(ns)} for name, ns in found.items() if len(ns) >= 100]
    return ranked(rows, "downloads")


@answers(60055)
def _(world: Documents) -> list[Document]:
    largest: Counter[int] = Counter()
    for r in world["releases"]:
        file = r.get("files", {}).get("electron.d.ts")
        if file:
            largest[r["line"]] = max(largest[r["line"]], file["size_bytes"])
    return ranked(({"line": line, "size_bytes": size} for line, size in largest.items()), "size_bytes")


@answers(60056)
def _(world: Documents) -> list[Document]:
    totals: Counter[str] = Counter()
    for line, event in events(world):
        if line == 21:
            totals.update(event.get("reactions", {}))
    del totals["total_count"]
    return ranked(({"kind": kind, "reactions": n} for kind, n in totals.items() if n), "reactions", "kind")


@answers(60057)
def _(world: Documents) -> list[Document]:
    deps = {event["version"]: event.get("deps", {}) for _, event in events(world)}
    old, new = deps["19.0.0"], deps["20.0.0"]
    assert old.keys() == new.keys()
    return [{"dependency": n, "old": old[n], "new": new[n]} for n in sorted(old) if old[n] != new[n]]


@answers(60058)
def _(world: Documents) -> list[Document]:
    (release,) = (r for r in world["releases"] if r["_id"] == "21.1.1")
    sizes: dict[str, list[int]] = defaultdict(list)
    for products in release["builds"].values():
        for product, build in products.items():
            sizes[product].append(build["size_bytes"])
    rows = [{"product": p, "targets": len(found), "size_bytes": sum(found)} for p, found in sizes.items()]
    return ranked(rows, "size_bytes")


# --- shapes -------------------------------------------------------------------------------------


@answers(60059)
def _(world: Documents) -> list[Document]:
    rows: list[Document] = []
    for line in world["release_lines"]:
        version = line["events"][-1]["version"]
        name, _, number = version.partition("-")[2].partition(".")
        day = f"{number[:4]}-{number[4:6]}-{number[6:]}"
        label = f"{name} {day if len(number) == 8 else number}" if name else "stable"
        rows.append({"line": line["_id"], "version": version, "stage": label})
    return [row for row in rows if row["line"] >= 12]


@answers(60060)
def _(world: Documents) -> list[Document]:
    forms = {list: "sections", str: "text", type(None): "none"}
    counts = Counter((r["line"], forms[type(r.get("notes"))]) for r in world["releases"])
    return [{"line": line, **{form: counts[line, form] for form in forms.values()}} for line in range(4)]


@answers(60061)
def _(world: Documents) -> list[Document]:
    names: dict[str, list[str]] = defaultdict(list)
    for _, event in events(world):
        stage = event["stage"]
        names["number" if "number" in stage else "day" if "day" in stage else "plain"].append(stage["name"])
    rows = [{"form": form, "names": sorted(set(found)), "releases": len(found)} for form, found in names.items()]
    return ranked(rows, "releases")


@answers(60062)
def _(world: Documents) -> list[Document]:
    # From the notes, not from the stored mentions.
    found: dict[int, set[int]] = defaultdict(set)
    for r in world["releases"]:
        for section, item in items(r):
            for part in (item, *item.get("details", [])):
                if section.get("section") == "Breaking Changes":
                    found[r["line"]].update(part.get("pulls", []))
    return [{"line": line, "pulls": len(found[line])} for line in range(7, 15)]


@answers(60063)
def _(world: Documents) -> list[Document]:
    found = Counter(e["published_at"].month for _, e in events(world) if e["published_at"].year == 2018)
    months = range(min(found), max(found) + 1)
    return [{"month": f"2018-{month:02}", "releases": found[month]} for month in months]


@answers(60064)
def _(world: Documents) -> list[Document]:
    found = Counter(line for line, kept in staged(world, "nightly").items() for event in kept if "package" not in event)
    return ranked(({"line": line, "nightlies": n} for line, n in found.items()), "nightlies", "line")


@answers(60065)
def _(world: Documents) -> list[Document]:
    found = (
        (r["line"], "host" in products["mksnapshot"])
        for r in world["releases"]
        if r["line"] >= 8
        for products in r.get("builds", {}).values()
        if "mksnapshot" in products
    )
    return with_and_without(found, "line")
