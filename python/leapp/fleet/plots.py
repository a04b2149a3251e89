# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Small plots as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from leapp.fleet.words import escape

__all__ = ["Line", "bars", "dots", "lines"]

_WIDTH, _HEIGHT = 520.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 12.0, 10.0, 42.0
_FRAME_WIDTH, _FRAME_HEIGHT = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM


@dataclass(frozen=True)
class Line:
    """Values of one colour."""

    name: str
    values: Sequence[float]
    colour: str
    wide: bool = False  # so that another line on top of it does not hide it


def _number(value: float) -> str:
    if value == 0:
        return "0"
    return f"{value:.0e}" if abs(value) < 1e-3 or abs(value) >= 1e5 else f"{value:.4g}"


def _label(x: float, y: float, text: str, anchor: str = "middle", turn: str = "") -> str:
    look = f'text-anchor="{anchor}" font-size="11" fill="#5d6b7a"{turn}'
    return f'<text x="{x:.1f}" y="{y:.1f}" {look}>{escape(text)}</text>'


def _frame(inside: str, across: str, up: str) -> str:
    middle = _TOP + _FRAME_HEIGHT / 2
    return (
        f'<svg viewBox="0 0 {_WIDTH:g} {_HEIGHT:g}" role="img" font-family="inherit">{inside}'
        f'<path d="M{_LEFT:g} {_TOP:g}V{_TOP + _FRAME_HEIGHT:g}H{_WIDTH - _RIGHT:g}" fill="none" stroke="#9aa7b4"/>'
        + _label(_LEFT + _FRAME_WIDTH / 2, _HEIGHT - 4, across)
        + _label(12, middle, up, turn=f' transform="rotate(-90 12 {middle:g})"')
        + "</svg>"
    )


def _rule(y: float, text: str) -> str:
    line = f'<path d="M{_LEFT:g} {y:.1f}H{_WIDTH - _RIGHT:g}" stroke="#e7ebef"/>'
    return line + _label(_LEFT - 6, y + 4, text, "end")


def bars(counts: Sequence[int], labels: Sequence[str], across: str, up: str) -> str:
    """How often each class occurs."""
    most = max(counts)
    step = _FRAME_WIDTH / len(counts)
    shown = max(1, math.ceil(len(counts) / 5))
    rules = [count for count in (most // 2, most) if count]
    text = "".join(_rule(_TOP + _FRAME_HEIGHT * (1 - count / most), f"{count:,}") for count in rules)
    for i, count in enumerate(counts):
        height = _FRAME_HEIGHT * count / most
        height = max(height, 1.5) if count else 0.0
        x, y = _LEFT + i * step, _TOP + _FRAME_HEIGHT - height
        size = f'width="{max(step - 1, 0.5):.1f}" height="{height:.1f}"'
        text += f'<rect x="{x + 0.5:.1f}" y="{y:.1f}" {size} fill="#1f5fa8">'
        text += f"<title>{escape(labels[i])}: {count:,}</title></rect>"
        if i % shown == 0:
            text += _label(x + step / 2, _TOP + _FRAME_HEIGHT + 15, labels[i])
    return _frame(text, across, up)


_MOST_DOTS = 400


@dataclass(frozen=True)
class _Decades:
    """A logarithmic axis of powers of ten between ``foot`` and ``head`` of the frame: zeros stand at its bottom, what
    is no number at its top.
    """

    low: int
    high: int
    foot: float
    head: float

    @staticmethod
    def of(values: Sequence[float]) -> _Decades:
        positive = [value for value in values if 0 < value < math.inf]
        foot, head = 0.15 if min(values) <= 0 else 0.0, 1.0 if max(values) < math.inf else 0.85
        if not positive:
            return _Decades(0, -1, foot, head)
        low, high = math.floor(math.log10(min(positive))), math.ceil(math.log10(max(positive)))
        return _Decades(low, max(high, low + 1), foot, head)

    def place(self, value: float) -> float:
        part = 0.0 if value <= 0 else 1.0
        if 0 < value < math.inf:
            part = self.foot + (self.head - self.foot) * (math.log10(value) - self.low) / (self.high - self.low)
        return _TOP + _FRAME_HEIGHT * (1 - part)

    def rules(self) -> str:
        text = _rule(self.place(0), "0") if self.foot > 0 else ""
        text += _rule(self.place(math.inf), "inf") if self.head < 1 else ""
        every = max(1, math.ceil((self.high - self.low) / 4))
        return text + "".join(_rule(self.place(10.0**one), f"1e{one}") for one in range(self.low, self.high + 1, every))


def dots(values: Sequence[float | None], across: str, up: str) -> str:
    """One value for each of many, on a logarithmic axis; what is no number at its head, and nothing for what has none.
    Of more than can be told apart, the largest of those that are next to each other, and how far down the others go.
    REQUIRES: one has a value.
    """
    axis = _Decades.of([value for value in values if value is not None])
    text = axis.rules()
    each = math.ceil(len(values) / _MOST_DOTS)
    for i in range(0, len(values), each):
        span = values[i : i + each]
        group = [value for value in span if value is not None]
        if not group:
            continue
        x = _LEFT + _FRAME_WIDTH * (i + len(span) / 2) / len(values)
        top, foot = axis.place(max(group)), axis.place(min(group))
        if foot - top > 1:
            text += f'<path d="M{x:.1f} {top:.1f}V{foot:.1f}" stroke="#1f5fa8" stroke-opacity="0.25"/>'
        text += f'<circle cx="{x:.1f}" cy="{top:.1f}" r="2.2" fill="#1f5fa8" fill-opacity="0.75"/>'
    for i in sorted({0, len(values) - 1}):
        x, anchor = _LEFT + _FRAME_WIDTH * (i + 0.5) / len(values), "end" if i > 99 else "middle"
        text += _label(x, _TOP + _FRAME_HEIGHT + 15, f"{i:,}", anchor)
    return _frame(text, across if each == 1 else f"{across}, the largest of {each} each", up)


def lines(steps: Sequence[int], series: Sequence[Line], up: str, marked: int) -> str:
    """Values over steps; one step is marked. Differences begin at zero."""
    finite = [value for line in series for value in line.values if math.isfinite(value)]
    low, high = (min(finite), max(finite)) if finite else (0.0, 1.0)
    if up == "difference":
        low = 0.0
    if high - low < 1e-12:
        low, high = low - 0.5, high + 0.5
    span = max(len(steps) - 1, 1)

    def place(i: int, value: float) -> tuple[float, float]:
        return _LEFT + _FRAME_WIDTH * i / span, _TOP + _FRAME_HEIGHT * (high - value) / (high - low)

    text = "".join(_rule(place(0, value)[1], _number(value)) for value in (low, (low + high) / 2, high))
    at = _LEFT + _FRAME_WIDTH * (marked - steps[0]) / span
    text += f'<path d="M{at:.1f} {_TOP:g}V{_TOP + _FRAME_HEIGHT:g}" stroke="#b3261e" stroke-dasharray="3 3"/>'
    for line in series:
        path, pen = "", "M"
        for i, value in enumerate(line.values):
            if not math.isfinite(value):
                pen = "M"
                continue
            x, y = place(i, value)
            path += f"{pen}{x:.1f} {y:.1f}"
            pen = "L"
        pencil = 'stroke-width="5" stroke-opacity="0.45"' if line.wide else 'stroke-width="1.4"'
        text += f'<path d="{path}" fill="none" stroke="{line.colour}" {pencil} stroke-linejoin="round"/>'
    empty = [line.name for line in series if not any(map(math.isfinite, line.values))]
    if empty:
        halo = ' stroke="#fff" stroke-width="4" paint-order="stroke"'  # a line may be there
        middle = (_LEFT + _FRAME_WIDTH / 2, _TOP + _FRAME_HEIGHT / 2)
        text += _label(*middle, f"{', '.join(empty)}: no numbers here", turn=halo)
    for i in sorted({0, len(steps) - 1}):
        text += _label(
            _LEFT + _FRAME_WIDTH * i / span, _TOP + _FRAME_HEIGHT + 15, str(steps[i]), "end" if i else "start"
        )
    return _frame(text, "step", up)
