"""How much each path has to do with a question: which of its words a path's names answer to, and what was found there."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
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
_UNASKED: Final = 0.12
"""What each word of a last name that the question does not speak of takes away."""
_FOUND: Final = {"hard": 8.0, "same": 4.0, "near": 1.0, "name": 0.5}
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
    asked = _asked(f"{grounding.question.text} {grounding.question.hints}")
    vocabulary = _Vocabulary.of(grounding.catalog.containers, asked)
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
        totals[container.name] = sum(covered.values())
    return Relevance(paths, totals)


@dataclass(frozen=True)
class _Vocabulary:
    """How the words of names answer to the words of a question."""

    rarity: Mapping[str, float]
    answers: Mapping[str, tuple[str, float]]

    @classmethod
    def of(cls, containers: Iterable[Container], asked: Mapping[str, float]) -> _Vocabulary:
        """Build it from all names; `asked` maps the question's words to their worth."""
        counts: Counter[str] = Counter()
        paths = 0
        for container in containers:
            counts.update(set(stems(container.name)))
            for field in container.fields:
                counts.update({stem(w) for name in field.path.fields for w in split_words(name)})
                paths += 1
        rarity = {word: math.log(2 + paths / count) for word, count in counts.items()}
        answers = {word: best for word in counts if (best := _best(word, asked)) is not None}
        return cls(rarity, answers)

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
        names = field.path.fields
        found: dict[str, float] = {}
        for up, name in enumerate(reversed(names)):
            for word, value in self.matches(split_words(name), _DEPTH[min(up, 2)]).items():
                found[word] = max(found.get(word, 0.0), value)
        last = [stem(w) for w in split_words(field.path.name)]
        unasked = sum(w not in self.answers and w not in _WRAPPERS for w in last)
        constant = _CONSTANT if field.complete and field.distinct == 1 and field.count >= field.parents else 1.0
        scale = constant / (1 + _UNASKED * unasked)
        return {word: value * scale for word, value in found.items()}


def _asked(text: str) -> dict[str, float]:
    words = dict.fromkeys(w for w in split_words(text) if w not in STOP_WORDS and not w.isdigit() and len(w) > 1)
    return {stem(w): _ASKING if w in ASKING else 1.0 for w in words}


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
