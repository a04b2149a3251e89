# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Small plots as SVG."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

__all__ = ["Line", "bars", "dots", "lines"]

_WIDTH, _HEIGHT = 520.0, 230.0
_LEFT, _RIGHT, _TOP, _BOTTOM = 76.0, 12.0, 10.0, 42.0
_FRAME_WIDTH, _FRAME_HEIGHT = _WIDTH - _LEFT - _RIGHT, _HEIGHT - _TOP - _BOTTOM


@dataclass(frozen=True)
class Line:
    """Values of one colour."""

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
    text = "".join(_rule(_TOP + _FRAME_HEIGHT * (1 - part), f"{most * part:,.0f}") for part in (0.5, 1.0))
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


def dots(values: Sequence[float], across: str, up: str) -> str:
    """One value for each of many, on a logarithmic axis; zeros at its foot, what is no number at its head."""
    positive = [value for value in values if 0 < value < math.inf]
    low = math.floor(math.log10(min(positive))) if positive else -1
    high = math.ceil(math.log10(max(positive))) if positive else 0
    high = max(high, low + 1)
    text = ""
    every = max(1, math.ceil((high - low) / 4))
    for exponent in range(low, high + 1, every):
        text += _rule(_TOP + _FRAME_HEIGHT * (high - exponent) / (high - low), f"1e{exponent}")
    for i, value in enumerate(values):
        x = _LEFT + _FRAME_WIDTH * (i + 0.5) / len(values)
        part = 0.0 if value <= 0 else 1.0 if value == math.inf else (math.log10(value) - low) / (high - low)
        y = _TOP + _FRAME_HEIGHT * (1 - part)
        text += f'<circle cx="{x:.1f}" cy="{y:.1f}" r="2.2" fill="#1f5fa8" fill-opacity="0.75"/>'
    for i in sorted({0, len(values) - 1}):
        text += _label(_LEFT + _FRAME_WIDTH * (i + 0.5) / len(values), _TOP + _FRAME_HEIGHT + 15, str(i))
    return _frame(text, across, up)


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
    for i in sorted({0, len(steps) - 1}):
        text += _label(
            _LEFT + _FRAME_WIDTH * i / span, _TOP + _FRAME_HEIGHT + 15, str(steps[i]), "end" if i else "start"
        )
    return _frame(text, "step", up)
