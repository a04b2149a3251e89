# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""One page of a replay: a file of its own, without scripts and without anything from elsewhere."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from leapp.fleet.options import ReplayOptions
from leapp.fleet.plots import Line, bars, dots, lines
from leapp.fleet.results import Results
from leapp.fleet.rows import Piece, read_range
from leapp.fleet.statistics import EDGES
from leapp.fleet.tables import Rows, worst_rows
from leapp.fleet.words import escape

__all__ = ["write_page"]

_STYLE = """
:root { color-scheme: light; }
body { font: 15px/1.45 system-ui, "DejaVu Sans", sans-serif; color: #1c2530; background: #f4f6f8; margin: 0; }
main { max-width: 1080px; margin: 0 auto; padding: 24px 20px 60px; }
h1 { font-size: 22px; margin: 0 0 4px; } h2 { font-size: 17px; margin: 30px 0 8px; }
p { margin: 4px 0; } .dim { color: #5d6b7a; } code { font: 13px ui-monospace, "DejaVu Sans Mono", monospace; }
.cards { display: grid; grid-template-columns: repeat(auto-fit, minmax(150px, 1fr)); gap: 12px; margin: 18px 0 6px; }
.card, figure, .table { background: #fff; border: 1px solid #dbe1e7; border-radius: 8px; }
.card { padding: 12px 14px; } .card b { display: block; font-size: 22px; } .card span { color: #5d6b7a; }
.card.bad b { color: #b3261e; }
.pair { display: grid; grid-template-columns: repeat(auto-fit, minmax(min(420px, 100%), 1fr)); gap: 12px; }
figure { margin: 0; padding: 12px 14px; min-width: 0; }
figcaption { font-weight: 600; margin-bottom: 6px; overflow-wrap: anywhere; }
svg { display: block; width: 100%; height: auto; }
.pair + .table { margin-top: 12px; } .table { overflow-x: auto; } table { border-collapse: collapse; width: 100%; }
th, td { padding: 6px 9px; text-align: left; white-space: nowrap; border-top: 1px solid #e7ebef; }
th { color: #5d6b7a; font-weight: 600; border-top: 0; white-space: normal; vertical-align: bottom; }
td.n, th.n { text-align: right; font-variant-numeric: tabular-nums; }
td.why, td.name { white-space: normal; overflow-wrap: anywhere; } td.name { min-width: 9em; }
.key i { display: inline-block; width: 14px; height: 3px; margin: 0 5px 3px 12px; border-radius: 2px; }
"""


def _text(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, float):
        return "NaN" if math.isnan(value) else f"{value:.4g}"
    return f"{value:,}" if isinstance(value, int) else str(value)


def _table(columns: Sequence[tuple[str, str]], rows: Iterable[dict[str, Any]]) -> str:
    """Columns as (key, title); those whose title ends in a blank are numbers."""
    wrapped = {"why": "why", "episode": "name", "port": "name"}
    kinds = ["n" if title.endswith(" ") else wrapped.get(key, "") for key, title in columns]
    head = "".join(
        f'<th class="{kind}">{escape(title.strip())}</th>' for kind, (_, title) in zip(kinds, columns, strict=True)
    )
    body = ""
    for row in rows:
        body += "<tr>"
        for kind, (key, _) in zip(kinds, columns, strict=True):
            body += f'<td class="{kind}">{escape(_text(row.get(key)))}</td>'
        body += "</tr>\n"
    return f'<div class="table"><table><thead><tr>{head}</tr></thead>\n<tbody>{body}</tbody></table></div>'


def _cards(rows: dict[str, Rows], episodes: Rows) -> str:
    steps = sum(episode["steps"] for episode in episodes)
    compared = [port for port in rows["ports"] if any(port["counts"])]
    shown = [(_text(len(episodes)), "episodes", False), (_text(steps), "steps", False)]
    if compared:
        worst = max(compared, key=lambda port: port["steps_outside"])
        outside = worst["steps_outside"]
        share = f"steps outside the tolerance, {100 * outside / sum(worst['counts']):.3g} %"
        largest = max(port["largest_difference"] or 0.0 for port in compared)
        shown += [(_text(outside), share, outside > 0), (_text(largest), "largest difference", False)]
    shown.append((_text(len(rows["skipped"])), "episodes left out", bool(rows["skipped"])))
    return "".join(
        f'<div class="card{" bad" if bad else ""}"><b>{escape(text)}</b><span>{name}</span></div>'
        for text, name, bad in shown
    )


def _histogram(port: dict[str, Any]) -> str:
    """Classes from the first to the last that has a step; steps that are the same, or no numbers, beside them."""
    counts, last = port["counts"], len(EDGES) - 1
    used = [i for i, count in enumerate(counts) if count]
    between = [i for i in used if 0 < i < last]
    shown = [*used[: used[0] == 0], *(range(between[0], between[-1] + 1) if between else ())]
    shown += [last] if counts[last] else []
    names = {0.0: "same", math.inf: "not a number"}
    labels = [names.get(EDGES[i], f"{EDGES[i]:.2g}") for i in shown]
    return bars([counts[i] for i in shown], labels, "largest difference in a step", "steps")


def _by_episode(port: str, rows: dict[str, Rows]) -> str:
    values = [row["largest_difference"] for row in rows["episodes"] if row["port"] == port]
    return dots(values, "episode", "largest difference")


def _ports(rows: dict[str, Rows]) -> str:
    text = ""
    for port in rows["ports"]:
        if not any(port["counts"]):
            continue
        text += f'<h2>{escape(port["port"])}</h2>\n<div class="pair">'
        text += f"<figure><figcaption>How far steps differ</figcaption>{_histogram(port)}</figure>"
        text += f"<figure><figcaption>Episodes</figcaption>{_by_episode(port['port'], rows)}</figure></div>\n"
    return text


_AROUND = 150
_RESETS = {"exported": "as exported", "zeros": "with zeros", "first_frame": "with the first frame"}


def _worst_plots(results: Results, worst: Rows, names: tuple[str, str]) -> str:
    """The element that differs most, around that step; ``names``: of what was found, and of what was expected."""
    text = ""
    for row in worst:
        piece = results.rows_of(row["episode"])
        first = max(0, row["step"] - _AROUND)
        last = min(piece.rows, row["step"] + _AROUND)
        columns = [row["port"], f"{row['port']}:reference"]
        part, _ = read_range(Piece(piece.file, piece.first + first, last - first), columns)
        ours, theirs = ([float(step[row["element"]]) for step in part.column(name).to_pylist()] for name in columns)
        steps = list(range(first, last))
        apart = [abs(one - other) for one, other in zip(ours, theirs, strict=True)]
        plot = lines(
            steps, [Line(names[1], theirs, "#c4501b", wide=True), Line(names[0], ours, "#1f5fa8")], "value", row["step"]
        )
        plot += lines(steps, [Line("difference", apart, "#5d6b7a")], "difference", row["step"])
        title = f"{row['episode']}, step {row['step']}: {row['port']}{row['place']}"
        text += f"<figure><figcaption>{escape(title)}</figcaption>{plot}</figure>"
    return f'<div class="pair">{text}</div>' if text else ""


def _names(options: ReplayOptions) -> list[str]:
    """What the bundles are called, with as many of the folders they are in as tells them apart."""
    paths = [Path(path).parts for path in options.bundle_paths]
    for count in range(1, max(map(len, paths)) + 1):
        names = ["/".join(parts[-count:]) for parts in paths]
        if len(set(names)) == len(names):
            return names
    return ["first", "second"][: len(paths)]  # one bundle with itself


def write_page(results: Results, options: ReplayOptions, rows: dict[str, Rows], notes: list[str]) -> None:
    """Write ``replay.html``."""
    episodes = results.episodes
    names = _names(options)
    against = f"and {names[1]}" if len(names) == 2 else "and what was recorded"
    compared = any(any(port["counts"]) for port in rows["ports"])
    reference = names[1] if len(names) == 2 else "recorded"
    ports = [("port", "port"), ("least", "least "), ("most", "most ")]
    if any(port["not_finite"] for port in rows["ports"]):
        ports.append(("not_finite", "not finite "))
    if compared:
        ports += [
            ("steps_outside", "steps outside "),
            ("episodes_outside", "episodes outside "),
            ("p50", "half below "),
        ]
        ports += [("p99", "99 % below "), ("mean_difference", "mean of elements "), ("largest_difference", "largest ")]
    worst = [("episode", "episode"), ("step", "step "), ("port", "port"), ("place", "element")]
    worst += [("found", f"{names[0]} "), ("expected", f"{reference} "), ("difference", "difference ")]
    body = f"<h1>Replay of {escape(names[0])}</h1>"
    told = f"{escape(names[0])} {escape(against)}" if compared else "Nothing was recorded to compare with"
    body += f'<p class="dim">{told}. A step differs when |found - expected| &gt; {options.atol:g} + {options.rtol:g} '
    body += f"|expected|. State begins {_RESETS[options.reset]} in every episode.</p>"
    body += f'<div class="cards">{_cards(rows, episodes)}</div>'
    body += "<h2>Outputs</h2>" + _table(ports, rows["ports"]) + _ports(rows)
    if rows["worst"]:
        body += '<h2>The worst step of each episode</h2><p class="key dim">'
        body += f'<i style="background:#1f5fa8"></i>{escape(names[0])}'
        body += f'<i style="background:#c4501b"></i>{escape(reference)}</p>'
        worst_of_each = worst_rows(episodes, 20, of_each=1)
        body += _worst_plots(results, worst_of_each[:4], (names[0], reference)) + _table(worst, worst_of_each)
    if notes:
        body += "<h2>Notes</h2>" + _table([("why", "")], [{"why": note} for note in notes[:200]])
    if rows["skipped"]:
        body += "<h2>Left out</h2>" + _table([("episode", "episode"), ("why", "why")], rows["skipped"][:200])
    page = '<!doctype html>\n<html lang="en"><head><meta charset="utf-8">'
    page += '<meta name="viewport" content="width=device-width, initial-scale=1">'
    page += """<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">"""
    page += f"<title>Replay of {escape(names[0])}</title>\n"
    page += f"<style>{_STYLE}</style></head>\n<body><main>{body}</main></body></html>\n"
    results.write("replay.html", page.encode())
