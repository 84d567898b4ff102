"""What was copied out of a shell: prompts with commands behind them, and the printed output between."""

from __future__ import annotations

import re
from typing import Final

_PROMPT: Final = re.compile(
    r"^[ \t]*(?:(?P<python>>>>|In \[\d+\]:)|(?!//|\*|#|--)(?:[\w.\-/:@+ \t]|\[[\w: \-]*\]){0,80}>)(?:[ \t]+|$)",
    re.MULTILINE,
)
"""`atlas>`, `rs0 [direct: primary] test>`, a bare `>`, Python's `>>>` and IPython's `In [1]:`."""
_CONTINUED: Final = re.compile(r"^[ \t]*\.\.\.+:?(?=[ \t]|$)", re.MULTILINE)
"""What a shell writes before each further line of a query."""
_TYPED: Final = re.compile(
    r"(?:db|use|show|it|exit|quit|cls|help|load|const|let|var|await|print|printjson|list|for|while|rs|sh|EJSON)\b"
    r"|[\w$]+\s*=(?![=>])|[\w$]+\.\w|[\[{(/]|$"
)
"""What is typed at a shell's prompt begins like this."""
_SHELL_COMMAND: Final = re.compile(r"^[ \t]*(?:show|it|exit|quit|cls|help|load|undefined)\b[^.(=\n]*$")
_FENCE: Final = re.compile(r"^[ \t]*(?:```|~~~)")
_TOKEN: Final = re.compile(
    r"""//[^\n]*|/\*.*?\*/|"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\\n])*'|`(?:\\.|[^`\\])*`|[(\[{]|[)\]}]""", re.DOTALL
)


def blank_session(text: str) -> tuple[str, bool]:
    """Blank prompts and printed output, leaving every place where it is; also whether there was any output.

    Text without a prompt comes back as it is, but for a shell's continuation dots.
    """
    lines = text.split("\n")
    starts = [number for number, line in enumerate(lines) if _is_prompt(line)]
    if not starts or _is_quotation(lines):
        return _CONTINUED.sub(_blank, _PROMPT.sub(_blank, text) if starts else text), False
    had_output = False
    for start, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        last = _end_of_input(lines, start, end)
        for number in range(last, end):
            if _FENCE.match(lines[number]):
                break
            had_output |= bool(lines[number].strip())
            lines[number] = " " * len(lines[number])
    return "\n".join(_CONTINUED.sub(_blank, line) for line in lines), had_output


def _blank(found: re.Match[str]) -> str:
    return " " * len(found[0])


def _is_prompt(line: str) -> bool:
    found = _PROMPT.match(line)
    # `a > b` in prose or in a query is no prompt
    return found is not None and bool(found["python"] or _TYPED.match(line, found.end()))


def _is_quotation(lines: list[str]) -> bool:
    """Tell a quoted mail or Markdown block, in which every line starts with >, from prompts."""
    written = [line for line in lines if line.strip()]
    return len(written) > 1 and all(re.match(r"[ \t]*>(?!>>)", line) for line in written)


def _end_of_input(lines: list[str], start: int, end: int) -> int:
    """Blank the prompt, and return the line on which what was typed has ended: its brackets are closed."""
    lines[start] = _PROMPT.sub(_blank, lines[start], count=1)
    if _SHELL_COMMAND.match(lines[start]):
        lines[start] = " " * len(lines[start])
    depth, number, is_block = 0, start, lines[start].rstrip().endswith(":")
    while number < end:
        typed = _CONTINUED.sub(_blank, lines[number])
        depth += sum(1 if t in "([{" else -1 if t in ")]}" else 0 for t in _TOKEN.findall(typed))
        number += 1
        following = lines[number] if number < end else ""
        goes_on = _CONTINUED.match(following) or (re.match(r"^[ \t]*\.", following) and not is_block)
        if depth <= 0 and not goes_on:
            break
    return number if depth <= 0 else end
