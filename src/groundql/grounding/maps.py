"""Telling maps from records: objects whose keys are data, and objects whose keys are field names.

The decision is taken once per place, over all objects seen there, from the outside in: siblings below an outer map are
laid over one another before the inner place is judged, so thin evidence in each adds up.

Evidence is added up in points; an object starts at `RECORD`, since most are records, and is a map above zero.

- *How the keys are written.* Numbers, dates, ids and punctuation are never typed as field names (`STRONG_KEYS`): one
  such key is enough. Capital codes and phrases count (`STYLED_KEYS`) where the names around are lower-case.
- *What the field says of itself*: `votes_by_type`, `by_year` (`SAYS_KEYED`).
- *Likeness of the values.* Entries of a map have one shape, fields of a record have their own. Three or more like
  objects with three or more leaves are hardly ever a record (`ALIKE_RICH`); small wrappers such as {value, state}
  are found in records too (`ALIKE_THIN`); like scalars say next to nothing. Unlike values speak against (`UNLIKE`).
- *Keys that are stored as values elsewhere* (`STORED_KEYS`): {bad, good, neutral} beside `alignment: "Good"`.
- *Sparse use.* A record's field is mostly there; of a map's vocabulary an object uses a small part (`SPARSE`, `VAST`).
- *Growth.* With every document new keys turn up (`GROWING`); a record's names are all known after a few.

Optional flags, one or few sparse fields of one scalar kind, and records with a field for home and one for away get
nowhere near zero. The points are set so that any one strong sign, or two that agree, decide.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Final

from groundql.core.kind import NUMBERS, Kind
from groundql.grounding.keys import STRONG, STYLED, Form, form_of
from groundql.grounding.node import Node, fold, merged
from groundql.grounding.vocabulary import Vocabulary

RECORD: Final = -2.0
STRONG_KEYS: Final = 4.0
SOME_STRONG_KEYS: Final = 2.0
STYLED_KEYS: Final = 2.25
USUAL_STYLE: Final = 0.5
SAYS_KEYED: Final = 2.5
ALIKE_RICH: Final = 2.5
ALIKE_THIN: Final = 1.5
ALIKE_PAIR: Final = -1.0
"""Two like objects are a pair (home and away, billing and shipping) as often as a map."""
ALIKE_MIXED: Final = 1.0
"""Every value is now a text, now a list: fields of a record do not vary in step."""
ALIKE_SCALARS: Final = 0.3
UNLIKE: Final = -3.0
UNLIKE_STRONG: Final = -1.5
STORED_KEYS: Final = 2.0
STORED_KEY: Final = 1.0
SPARSE: Final = 1.0
SPARSE_SCALARS: Final = 2.0
VAST: Final = 1.5
GROWING: Final = 2.0
LETTER_PAIRS: Final = 2.0
"""en, de, fr; at, ch: four or more keys of two letters are languages or countries."""

LEAST_FILLED: Final = 3
MOST_SHAPES: Final = 64
MOST_FEATURES: Final = 80
MOST_NAMES: Final = 16
"""An inner object of more keys is compared without them: two such maps of different keys are alike all the same."""
RICH_LEAVES: Final = 3

Shape = frozenset[str]


@dataclass(slots=True)
class MapJudge:
    """Decide which places are maps, for one container.

    `vocabulary` holds the strings stored anywhere in the catalog; `lower_names` tells whether the container's own
    field names are lower-case words, so that capitals stand out.
    """

    vocabulary: Vocabulary = field(default_factory=Vocabulary)
    lower_names: bool = True
    _shapes: dict[int, tuple[Node, Shape]] = field(default_factory=dict[int, "tuple[Node, Shape]"])

    def is_map(self, node: Node, levels: int = 0) -> bool:
        """Tell whether the objects at a place are maps; `levels` is what the field's name says."""
        if node.entries is not None:
            return not node.fields
        if set(node.fields) == {""}:
            return False  # one field without a name is no evidence of keys
        return bool(node.fields) and self.points(node, levels) > 0

    def points(self, node: Node, levels: int = 0) -> float:
        """Add up the evidence for a map at a place."""
        keys = {key: child.documents for key, child in node.fields.items()}
        total = RECORD + self._form_points(keys)
        total += SAYS_KEYED if levels else 0.0
        total += self._shape_points(node, _strong_share(keys))
        total += self._stored_points(keys)
        return total + _growth_points(node, keys)

    def _form_points(self, keys: Collection[str]) -> float:
        strong = _strong_share(keys)
        if strong >= 0.6:
            return STRONG_KEYS
        styled = sum(form_of(key) in STYLED for key in keys) / len(keys)
        found = SOME_STRONG_KEYS if strong >= 0.3 and len(keys) >= 3 else 0.0
        if styled + strong >= 0.6:
            found = max(found, STYLED_KEYS if self.lower_names else USUAL_STYLE)
        if len(keys) >= 4 and all(len(key) == 2 and key.isalpha() for key in keys):
            found = max(found, LETTER_PAIRS)
        return found

    def _stored_points(self, keys: Collection[str]) -> float:
        if not self.vocabulary.covers(keys):
            return 0.0
        return STORED_KEYS if len(keys) > 1 else STORED_KEY

    def _shape_points(self, node: Node, strong: float) -> float:
        children = list(node.fields.values())
        shapes = [shape for child in children[:MOST_SHAPES] if (shape := self.shape(child))]
        if len(shapes) < 2:
            return 0.0
        core = _core(shapes)
        alike = likeness(shapes, core)
        density = node_density(node)
        if alike >= 0.7:
            leaves = sum(1 for feature in core if feature[0] in ".[")
            return _alike_points(leaves, len(children), density, core)
        if alike < 0.55:
            return UNLIKE_STRONG if strong >= 0.6 else UNLIKE + (1.0 if len(shapes) == 2 else 0.0)
        return 0.0

    def shape(self, node: Node, depth: int = 3) -> Shape:
        """Give what stands at a place as a set of features: the kinds here, and those below by their names."""
        known = self._shapes.get(id(node))
        if depth == 3 and known is not None:
            return known[1]
        found = {_GROUPS[kind] for kind in node.kinds() if kind in _GROUPS}
        if depth:
            if node.items is not None:
                found.update("[]" + feature for feature in self.shape(node.items, depth - 1))
            found.update(self._object_shape(node, depth))
        shape = frozenset(sorted(found)[:MOST_FEATURES])
        if depth == 3:
            self._shapes[id(node)] = (node, shape)
        return shape

    def _object_shape(self, node: Node, depth: int) -> Iterable[str]:
        if node.entries is not None:
            return {".*" + feature for feature in self.shape(node.entries, depth - 1)}
        keys = node.fields
        is_open = len(keys) > MOST_NAMES or (bool(keys) and self._form_points(keys) >= STYLED_KEYS)
        return {
            ("." + ("*" if is_open else key)) + feature
            for key, child in list(keys.items())[:MOST_SHAPES]
            for feature in self.shape(child, depth - 1)
        }


_GROUPS: Final[Mapping[Kind, str]] = {
    **{kind: kind.value for kind in Kind if kind not in (Kind.NULL, Kind.MISSING, Kind.OBJECT, Kind.ARRAY)},
    **dict.fromkeys(NUMBERS, "number"),
}


def _strong_share(keys: Collection[str]) -> float:
    return sum(form_of(key) in STRONG for key in keys) / len(keys)


def _core(shapes: Sequence[Shape]) -> Shape:
    seen = Counter(feature for shape in shapes for feature in shape)
    return frozenset(feature for feature, count in seen.items() if 2 * count >= len(shapes))


def likeness(shapes: Sequence[Shape], core: Shape) -> float:
    """Measure how alike shapes are: their mean overlap with the core that half of them share, 0 to 1."""
    if not core:
        return 0.0
    return sum(len(shape & core) / len(shape | core) for shape in shapes) / len(shapes)


def _alike_points(leaves: int, distinct: int, density: float, core: Shape) -> float:
    if not leaves:
        sparse = distinct >= 5 and density < 0.25
        flags = core == frozenset({Kind.BOOL.value})
        return (0.0 if flags else ALIKE_SCALARS) + (SPARSE_SCALARS * (0.5 if flags else 1.0) if sparse else 0.0)
    points = ALIKE_RICH if leaves >= RICH_LEAVES else ALIKE_THIN
    if distinct == 2:
        return points + ALIKE_PAIR
    here = {feature[:1] if feature[0] in ".[" else feature for feature in core}
    if len(here) > 1:
        points += ALIKE_MIXED
    return points + (SPARSE if density < 0.6 else 0.0)


def node_density(node: Node) -> float:
    """Give the share of all keys that a mean object here has, 0 to 1."""
    filled = node.objects - node.empties
    if not filled or not node.fields:
        return 1.0
    return sum(child.count() for child in node.fields.values()) / filled / len(node.fields)


def _growth_points(node: Node, keys: Mapping[str, int]) -> float:
    distinct, density = len(keys), node_density(node)
    points = VAST if distinct > 30 and density < 0.2 else 0.0
    points += GROWING if distinct > 100 and density < 0.1 else 0.0
    singles = sum(1 for documents in keys.values() if documents == 1)
    if distinct >= 10 and node.documents >= 10 and singles >= 0.3 * distinct:
        points += GROWING
    return points


def split_root(node: Node) -> Node:
    """Give the root with the keys that are data by their form folded, when there are many beside the names."""
    # A table of numbered columns, all of them filled, has names like ids; it is a record all the same.
    columns = node.documents >= LEAST_FILLED and all(2 * c.documents >= node.documents for c in node.fields.values())
    forms = STRONG - {Form.ID} if columns else STRONG
    data = [key for key in node.fields if key != "_id" and form_of(key) in forms]
    if node.entries is not None or len(data) < 8 or len(data) < 0.4 * len(node.fields):
        return node
    split = merged([node])
    entries = {key: split.fields.pop(key) for key in data}
    split.keys = {key: child.count() for key, child in entries.items()}
    split.entries = merged(entries.values())
    return split


def compact(judge: MapJudge, root: Node, least_keys: int = 16) -> None:
    """Fold in place the places below the root that are maps of many keys, from the outside in."""
    waiting = list(root.children())
    while waiting:
        node = waiting.pop()
        if node.entries is None and len(node.fields) >= least_keys and judge.is_map(node):
            fold(node)
        waiting.extend(node.children())
