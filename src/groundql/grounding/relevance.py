"""How much each path has to do with a question: which words its names answer to, and what was found there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Final

from rapidfuzz.distance import OSA

from groundql.core.answer import Grounding
from groundql.core.catalog import Catalog, Container, Field, Witness
from groundql.core.path import ENTRIES, Path
from groundql.grounding.names import as_name, catalog_names
from groundql.grounding.words import ASKING, STOP_WORDS, split_words, stem, stems

_DEPTH: Final = (1.0, 0.8, 0.5)
"""Worth of a word in a path's last name, the one before, and those further up."""
_ASKING: Final = 0.25
"""Worth of words that mostly say what to do ("count", "total"), and only sometimes name a field."""
_NEAR: Final = 0.7
_CONSTANT: Final = 0.5
"""Worth of a path that holds one value everywhere: it can neither filter nor group."""
_TELLING: Final = 0.04
"""What a path gains with the number of its distinct values, so that a name goes before its presence flag."""
_UNASKED: Final = 0.12
"""What each word of a last name that the question does not speak of takes away."""
_FOUND: Final = {"hard": 8.0, "same": 4.0, "near": 1.0, "name": 0.5}
_NAMED: Final = 0.8
"""What a container gains when the question speaks its whole name."""
_PLAIN: Final = frozenset({"value", "name", "text", "label"})
_WRAPPERS: Final = frozenset({"value", "name", "id", "text", "label", "key", "code", "v", "k"})

Matches = Mapping[str, float]
"""What of a question a path answers to: its words, and `=term` for a term found there; each with its worth."""


@dataclass(frozen=True)
class Relevance:
    """What of a question each path answers to, and how much of the question each container covers."""

    paths: Mapping[tuple[str, Path], Matches]
    containers: Mapping[str, float]

    def of(self, container: str, path: Path) -> Matches:
        """Return what a path answers to; nothing when it has nothing to do with the question."""
        return self.paths.get((container, path), {})

    def ranked(self) -> tuple[str, ...]:
        """Return the containers, the most relevant first."""
        return tuple(sorted(self.containers, key=lambda name: (-self.containers[name], name)))


def weigh(grounding: Grounding) -> Relevance:
    """Weigh every path of a catalog against a question.

    A container counts for how many different words of the question it covers, so that the one that holds all the parts
    of a question comes before those that hold one part many times.
    """
    text = f"{grounding.question.text} {grounding.question.hints}"
    vocabulary = _Vocabulary.of(grounding.catalog.containers, text)
    found = _found(grounding.witnesses, grounding.catalog)
    paths: dict[tuple[str, Path], Matches] = {}
    totals: dict[str, float] = {}
    for container in grounding.catalog.containers:
        covered: dict[str, float] = dict(vocabulary.matches(split_words(container.name), 1.0))
        for field in container.fields:
            at = (container.name, field.path)
            matches = {**vocabulary.answer(field), **found.get(at, {})}
            if matches:
                paths[at] = matches
            for word, worth in matches.items():
                covered[word] = max(covered.get(word, 0.0), worth)
        totals[container.name] = sum(covered.values()) * (1 + _NAMED * vocabulary.named_share(container.name) ** 2)
    return Relevance(paths, totals)


@dataclass(frozen=True)
class _Vocabulary:
    """How the words of names answer to the words of a question."""

    rarity: Mapping[str, float]
    answers: Mapping[str, tuple[str, float]]
    pairs: frozenset[tuple[str, str]]

    @classmethod
    def of(cls, containers: Iterable[Container], text: str) -> _Vocabulary:
        """Build it from all names and the question."""
        asked = _asked(text)
        counts: Counter[str] = Counter()
        paths = 0
        for container in containers:
            counts.update(set(stems(container.name)))
            for field in container.fields:
                counts.update({stem(w) for name in field.path.fields for w in split_words(name)})
                paths += 1
        rarity = {word: math.log(2 + paths / count) for word, count in counts.items()}
        answers = {word: best for word in counts if (best := _best(word, asked)) is not None}
        return cls(rarity, answers, _pairs(text))

    def matches(self, words: Iterable[str], worth: float) -> dict[str, float]:
        """Return the question's words that some words of a name answer to, with what each is worth."""
        found: dict[str, float] = {}
        for word in map(stem, words):
            if (answer := self.answers.get(word)) is not None:
                asked, share = answer
                found[asked] = max(found.get(asked, 0.0), worth * share * self.rarity.get(word, 1.0))
        return found

    def answer(self, field: Field) -> dict[str, float]:
        """Return the question's words that a path's names answer to, the nearer to its end the better."""
        names = [split_words(name) for name in field.path.fields]
        wraps = _wrapper_depth(names)
        found: dict[str, float] = {}
        for up, words in enumerate(reversed(names)):
            for word, value in self.matches(words, _DEPTH[min(max(up - wraps, 0), 2)]).items():
                found[word] = max(found.get(word, 0.0), value)
        told = names[len(names) - 1 - wraps] if names else ()
        unasked = sum(stem(w) not in self.answers and w not in _PLAIN for w in told)
        constant = _CONSTANT if field.complete and field.distinct == 1 and field.count >= field.parents else 1.0
        scale = constant * (1 + _TELLING * math.log1p(field.distinct)) / (1 + _UNASKED * unasked)
        wrapping = {stem(w) for words in names[len(names) - wraps :] for w in words}
        single = {word: value * scale for word, value in found.items() if word not in wrapping}
        return {
            **single,
            **{f"{a} {b}": scale * (found[a] + found[b]) / 2 for a, b in self.pairs if {a, b} <= found.keys()},
        }

    def named_share(self, container: str) -> float:
        """Return the share of a container's name that the question speaks."""
        words = [stem(w) for w in split_words(container)]
        return sum(self.answers.get(w, ("", 0.0))[1] for w in words) / len(words) if words else 0.0


def _wrapper_depth(names: list[tuple[str, ...]]) -> int:
    """How many last names only wrap the one that tells ("value" in `publisher.name.value`)."""
    wraps = 0
    while wraps < len(names) - 1 and all(word in _WRAPPERS for word in names[-1 - wraps]):
        wraps += 1
    return wraps


def _asked(text: str) -> dict[str, float]:
    """The words of a question with their worth; what it says again and again is more than a way of asking."""
    words = Counter(w for w in split_words(text) if w not in STOP_WORDS and not w.isdigit() and len(w) > 1)
    return {stem(w): min(1.0, _ASKING * count) if w in ASKING else 1.0 for w, count in words.items()}


def _pairs(text: str) -> frozenset[tuple[str, str]]:
    """Words that stand side by side in the question: "attribute value", "power family" mean one thing together."""
    words = [None if w in STOP_WORDS else stem(w) for w in split_words(text)]
    return frozenset((a, b) for a, b in pairwise(words) if a and b and a != b)


def _best(word: str, asked: Mapping[str, float]) -> tuple[str, float] | None:
    """The word of the question that a name's word answers to best: the same, a longer or shorter form, a near one."""
    if word in asked:
        return word, asked[word]
    near = [(worth * _NEAR, other) for other, worth in asked.items() if _is_near(word, other)]
    return (max(near)[1], max(near)[0]) if near else None


def _is_near(one: str, other: str) -> bool:
    short, long = sorted((one, other), key=len)
    if len(short) < 3:
        return False
    if long.startswith(short) and (len(short) >= 4 or len(long) >= 6):
        return True
    return len(short) >= 5 and OSA.distance(short, long, score_cutoff=1) <= 1


def _found(witnesses: Iterable[Witness], catalog: Catalog) -> dict[tuple[str, Path], dict[str, float]]:
    """What the witnesses add to a path; a key counts for its map and for the map's entries."""
    names = catalog_names(catalog)
    found: dict[tuple[str, Path], dict[str, float]] = {}
    for witness in witnesses:
        worth = _worth(witness, names) / max(1.0, witness.places / 4)
        places = (witness.path, witness.path / ENTRIES) if witness.is_key else (witness.path,)
        for path in places:
            terms = found.setdefault((witness.container, path), {})
            term = f"={as_name(witness.term)}"
            terms[term] = max(terms.get(term, 0.0), worth)
    return found


def _worth(witness: Witness, names: frozenset[str]) -> float:
    if witness.hard:
        return _FOUND["hard"]
    if as_name(witness.term) in names:
        return _FOUND["name"]
    return _FOUND["near" if witness.distance > 1 else "same"]
