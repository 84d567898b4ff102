"""The terms of a question, looked up in the stored data: hard where the question insists, soft where it may mean it.

The rule. Quoted text, codes and full dates are hard when the same word (after folding) is stored at no more than six
places. Capitals alone ("USA") and names of several words are when exactly their spelling is stored, a number in digits
when a word beside it names the path ("season 2008"). Everything else is soft: a plural, a spelling some letters away, a
part of a longer text, a run of plain words, a name of one word (the data may know Germans by a code), what brackets
right behind it explain ("France (country code FR)"), what is negated, an output label, the name of a field or
container, whatever lies in more than six places, and whatever comes from the asker's hints.

Source: the TEND solver's literals (hard = quoted, capitals, date, with at most six locations), corrected where it never
looks up bare years and numbers.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from typing import Final

from groundql.core.answer import Question
from groundql.core.catalog import Catalog, Witness
from groundql.core.kind import Kind
from groundql.core.ports import Database
from groundql.grounding.index import Location, ValueIndex
from groundql.grounding.lookup import look_up
from groundql.grounding.names import as_name, catalog_names, name_words
from groundql.grounding.number_words import is_number_word
from groundql.grounding.numerals import NumberRole
from groundql.grounding.terms import Term, TermKind, Terms, is_generic, read_terms
from groundql.grounding.words import ASKING, STOP_WORDS, split_words, stem, stems

__all__ = ["ValueIndex", "find_witnesses"]

MOST_PLACES: Final = 6
"""A term stored at more places than this says too little about where it is meant."""
_PER_TERM: Final = 6
_MOST_NAMED: Final = 2
"""A plain word that is also a field's name is meant as a value only where few places store it."""
_MOST_WITNESSES: Final = 48
_INSISTING: Final = frozenset({TermKind.QUOTED, TermKind.CODE, TermKind.DATE})


async def find_witnesses(
    question: Question, catalog: Catalog, index: ValueIndex, database: Database | None
) -> tuple[tuple[Witness, ...], tuple[str, ...]]:
    """Return the witnesses of a question, the hard ones first, and the terms it insists on that are stored nowhere.

    With a database, a term that an incomplete index does not hold is looked up in the data itself.
    Raises: InputError when the question's time zone is unknown.
    """
    terms = read_terms(question)
    search = _Search(catalog, index, terms, frozenset(stems(f"{question.text} {question.hints}")))
    for term in terms.named:
        search.take(term)
    settled = all(p.complete for p in index.paths)
    if not settled and database is not None and search.unsure:
        looked = await look_up(tuple(search.unsure), index, database, search.words)
        settled = looked.settled
        for term, locations in looked.found:
            search.add(term, locations)
    for term in terms.runs:
        search.take_run(term)
    missing = tuple(dict.fromkeys(t.text for t in search.unfound)) if settled else ()
    return search.witnesses(), missing


@dataclass
class _Search:
    """What has been found so far for one question."""

    catalog: Catalog
    index: ValueIndex
    terms: Terms
    words: frozenset[str]
    found: list[tuple[Term, tuple[Location, ...]]] = field(default_factory=list[tuple[Term, tuple[Location, ...]]])
    unsure: list[Term] = field(default_factory=list[Term])
    taken: list[tuple[int, int]] = field(default_factory=list[tuple[int, int]])
    runs: set[str] = field(default_factory=set[str])

    def __post_init__(self) -> None:
        self.names = catalog_names(self.catalog)
        self.name_words = name_words(self.catalog)

    def take(self, term: Term) -> None:
        """Look one named term up."""
        if term.number is not None:
            self._take_number(term)
            return
        locations = self._exact(term)
        if locations:
            self.add(term, locations)
            return
        if not term.label and not is_generic(term.text) and as_name(term.text) not in self.names:
            self.unsure.append(term)
        self.add(term, self._near(term), consume=False)

    def take_run(self, term: Term) -> None:
        """Look a run of plain words up, unless a longer term already covers it."""
        if any(a <= term.start and term.end <= b for a, b in self.taken):
            return
        words = split_words(term.text)
        single = len(words) == 1
        if single and (words[0] in ASKING | STOP_WORDS or is_generic(words[0])):
            return
        if (name := as_name(term.text)) in self.runs:
            return
        self.runs.add(name)
        locations = self.index.find(term.text)
        if name in self.names and len({loc.key for loc in locations}) > _MOST_NAMED:
            return
        if single:
            locations = self._of_plain_word(words[0], locations)
        if locations:
            self.add(term, locations)

    def _of_plain_word(self, word: str, locations: tuple[Location, ...]) -> tuple[Location, ...]:
        """What one word in lower case may mean as a value.

        A word that names paths is meant as one ("status"), unless it is stored just so; a number word is an amount; a
        code is not written in lower case.
        """
        if is_number_word(word):
            return ()
        if stem(word) in self.name_words:
            return tuple(loc for loc in locations if loc.stored == word)
        if locations:
            return tuple(loc for loc in locations if not str(loc.stored).isupper())
        return self.index.find_near(word, 2) if len(word) >= 5 else ()

    def add(self, term: Term, locations: Sequence[Location], consume: bool = True) -> None:
        """Keep what was found for a term; a term found in the data itself is no longer unsure."""
        if not locations:
            return
        self.found.append((term, tuple(locations)))
        if consume:
            self.unsure = [t for t in self.unsure if t is not term]
            if term.start >= 0:
                self.taken.append((term.start, term.end))

    @property
    def unfound(self) -> Iterator[Term]:
        """The terms that the question insists on and that are stored nowhere."""
        return (t for t in self.unsure if t.start >= 0 and self._insists(t) and not self._is_date_in_range(t))

    def witnesses(self) -> tuple[Witness, ...]:
        """Everything found, as witnesses: the hard ones first, then by how sure and how telling they are."""
        made = [w for term, locations in self.found for w in self._witnesses(term, locations)]
        order = {id(w): i for i, w in enumerate(made)}
        made.sort(key=lambda w: (not w.hard, w.distance > 0, as_name(w.term) in self.names, order[id(w)]))
        seen: dict[tuple[str, str, str, str, bool], Witness] = {}
        for witness in made:
            # as text: a stored decimal, for one, has no hash
            stored = f"{type(witness.stored).__name__} {witness.stored!r}"
            seen.setdefault((witness.term, witness.container, str(witness.path), stored, witness.is_key), witness)
        return tuple(seen.values())[:_MOST_WITNESSES]

    def _exact(self, term: Term) -> tuple[Location, ...]:
        for text in (term.text, *term.forms):
            if locations := self.index.find(text):
                return locations
        return ()

    def _near(self, term: Term) -> tuple[Location, ...]:
        if term.kind is TermKind.DATE:
            return tuple(loc for text in (term.text, *term.forms) for loc in self.index.find_prefix(text))
        texts = (term.text, *term.forms)
        parts = (loc for text in texts for loc in self.index.find_part(text, 4))
        return (*(loc for text in texts for loc in self.index.find_near(text, 3)), *parts)

    def _take_number(self, term: Term) -> None:
        number = term.number
        if number is None or number.role is not NumberRole.PLAIN or number.is_percent:
            return
        locations = self.index.find_number(number.number)
        named = tuple(loc for loc in locations if self._is_named(term, loc))
        keys = tuple(loc for loc in locations if loc.at.is_key or isinstance(loc.stored, str))
        if not term.text[-1:].isdigit():
            return  # number words are amounts, hardly ever names
        if named or keys or number.is_year:
            self.add(term, named or keys or locations, consume=False)

    def _is_named(self, term: Term, location: Location) -> bool:
        """Whether a word beside a number names the path it is stored at: "season 2008", "hero 42" for `hero_id`."""
        return bool(set(term.near) & set(stems(location.at.path.name)))

    def _insists(self, term: Term) -> bool:
        if term.label or is_generic(term.text) or as_name(term.text) in self.names:
            return False
        if term.negated or term.explained:
            return False
        if term.kind is TermKind.CODE:
            plain = term.text.replace(" ", "")
            return not term.text.islower() and (len(plain) >= 3 or not plain.isalpha())
        return term.kind in _INSISTING

    def _is_hard(self, term: Term, location: Location, places: int) -> bool:
        if location.distance or location.partial or places > MOST_PLACES or term.start < 0 or term.label:
            return False
        if is_generic(term.text) or as_name(term.text) in self.names or term.negated or term.explained:
            return False
        if term.number is not None:
            return term.text.isdigit() and self._is_named(term, location)
        if term.kind is TermKind.CODE and term.text.replace("_", "").isalpha():
            return location.stored == term.text and term.text.isupper() and as_name(term.text) not in self.name_words
        if term.kind is TermKind.TITLE:
            return location.stored == term.text and " " in term.text
        return term.kind in _INSISTING

    def _witnesses(self, term: Term, locations: Sequence[Location]) -> Iterator[Witness]:
        places = len({loc.key for loc in locations if not loc.partial}) or len({loc.key for loc in locations})
        ranked = sorted(
            locations, key=lambda loc: (loc.partial, loc.distance, loc.stored != term.text, self._rank(loc))
        )
        for loc in ranked[: max(_PER_TERM, MOST_PLACES)]:
            at = loc.at
            hard = self._is_hard(term, loc, places)
            yield Witness(
                term.text, at.container, at.path, loc.stored, at.is_key, hard, loc.distance, loc.count, places
            )

    def _rank(self, location: Location) -> tuple[int, int, str, str]:
        """Places whose names the question speaks of first, then shallow and frequent ones."""
        at = location.at
        told = len(self.words & set(stems(f"{at.container} {at.path}")))
        return -told, len(at.path), at.container, str(at.path)

    def _is_date_in_range(self, term: Term) -> bool:
        """Whether a date need not be stored as such because dates are: it is then a bound, not a value."""
        return term.kind is TermKind.DATE and any(f.share(Kind.DATE) for _, f in self.catalog.fields())
