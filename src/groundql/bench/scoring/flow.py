"""Decide whether groups of rows can be matched in full: shortest augmenting paths, phase by phase, without recursion.

Each group stands for so many equal rows, so the phases are those of Hopcroft and Karp on the single rows: for n rows
at most about the root of n of them, each linear in the number of edges.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field


@dataclass(slots=True)
class Steps:
    """Count elementary steps, so that their growth can be tested without a clock."""

    count: int = 0


def is_saturable(
    edges: Sequence[Sequence[int]], supply: Sequence[int], demand: Sequence[int], steps: Steps | None = None
) -> bool:
    """Tell whether all supply on the left can be sent along the edges within the demand on the right."""
    if not all(edges):
        return False
    flow = _Flow(edges, list(supply), list(demand), steps or Steps())
    while any(flow.supply):
        if not flow.measure():
            return False
        flow.block()
    return True


@dataclass(slots=True)
class _Flow:
    """A flow in the making: what is left to send, what can still be taken, and what each edge carries."""

    edges: Sequence[Sequence[int]]
    supply: list[int]
    demand: list[int]
    steps: Steps
    carried: list[dict[int, int]] = field(default_factory=list[dict[int, int]])
    owners: list[list[int]] = field(default_factory=list[list[int]])
    left: list[int] = field(default_factory=list[int])
    right: list[int] = field(default_factory=list[int])
    last: int = -1
    """The distance at which the first group with demand was met in this phase."""

    def __post_init__(self) -> None:
        self.carried = [{} for _ in self.demand]
        self.owners = [[] for _ in self.demand]
        for i, targets in enumerate(self.edges):
            for j in targets:
                self.owners[j].append(i)

    def measure(self) -> bool:
        """Measure every group's distance from what is left to send; False when no demand can be reached."""
        self.left = [0 if amount else -1 for amount in self.supply]
        self.right, self.last = [-1] * len(self.demand), -1
        layer = [i for i, amount in enumerate(self.supply) if amount]
        depth = 0
        while layer and self.last < 0:
            layer = self._next_layer(layer, depth + 1)
            depth += 2
        return self.last >= 0

    def _next_layer(self, layer: list[int], depth: int) -> list[int]:
        found: list[int] = []
        for i in layer:
            self.steps.count += len(self.edges[i])
            for j in self.edges[i]:
                if self.right[j] < 0:
                    self.right[j] = depth
                    if self.demand[j]:
                        self.last = depth
                    found.append(j)
        following: list[int] = []
        for j in found:
            self.steps.count += len(self.carried[j])
            for i in self.carried[j]:
                if self.left[i] < 0:
                    self.left[i] = depth + 1
                    following.append(i)
        return following

    def block(self) -> None:
        """Send along shortest paths until each of them is blocked; a dead end is entered once."""
        at_left, at_right = [0] * len(self.edges), [0] * len(self.owners)
        for start, amount in enumerate(self.supply):
            path = [start]
            while amount and path:
                if len(path) % 2:
                    self._leave_left(path, at_left, at_right)
                elif self.demand[path[-1]]:
                    self._send(path)
                    amount, path = self.supply[start], [start]
                else:
                    self._leave_right(path, at_left, at_right)

    def _leave_left(self, path: list[int], at_left: list[int], at_right: list[int]) -> None:
        i = path[-1]
        targets, position = self.edges[i], at_left[i]
        while position < len(targets) and self.right[targets[position]] != self.left[i] + 1:
            position += 1
        self.steps.count += 1 + position - at_left[i]
        at_left[i] = position
        if position < len(targets):
            path.append(targets[position])
            return
        path.pop()
        if path:
            at_right[path[-1]] += 1

    def _leave_right(self, path: list[int], at_left: list[int], at_right: list[int]) -> None:
        j = path[-1]
        owners, position = self.owners[j], at_right[j]
        while position < len(owners) and not self._leads_back(j, owners[position]):
            position += 1
        self.steps.count += 1 + position - at_right[j]
        at_right[j] = position
        if position < len(owners) and self.right[j] < self.last:
            path.append(owners[position])
            return
        path.pop()
        at_left[path[-1]] += 1

    def _leads_back(self, j: int, i: int) -> bool:
        return self.left[i] == self.right[j] + 1 and i in self.carried[j]

    def _send(self, path: list[int]) -> None:
        """Send as much as a path bears; what it takes from an edge it runs backwards, it gives to the next."""
        backward = list(zip(path[1::2], path[2::2], strict=False))
        amount = min([self.supply[path[0]], self.demand[path[-1]], *(self.carried[j][i] for j, i in backward)])
        self.steps.count += len(path)
        for i, j in zip(path[::2], path[1::2], strict=True):
            self.carried[j][i] = self.carried[j].get(i, 0) + amount
        for j, i in backward:
            self.carried[j][i] -= amount
            if not self.carried[j][i]:
                del self.carried[j][i]
        self.supply[path[0]] -= amount
        self.demand[path[-1]] -= amount
