# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""``leapp replay``."""

from __future__ import annotations

import argparse
import errno
import io
import json
import math
import os
import re
import sys
from collections.abc import Sequence
from contextlib import suppress
from typing import Any

from leapp.errors import LeappError
from leapp.fleet.options import ReplayOptions
from leapp.fleet.replay import ReplaySummary, replay
from leapp.fleet.words import printable

__all__ = ["main"]

_EXAMPLES = """Examples:
  leapp replay walk --data logs --output result
  leapp replay walk_new walk_old --data logs.parquet --output result --workers 8
  leapp replay walk --data logs --output result --address ray://head:10001
  leapp replay walk --data lerobot_dataset --output result --column policy/obs=observation.state --cast"""


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="leapp replay",
        description="Step bundles over recorded episodes, and say where they act otherwise than recorded, or than each "
        "other.",
        epilog=_EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("bundles", nargs="+", metavar="BUNDLE", help="one, or two that are compared with each other")
    parser.add_argument("--data", required=True, help="a folder of episodes: .npz, .safetensors, .mcap, .parquet")
    parser.add_argument("-o", "--output", required=True, help="folder for the results; what is done there is kept")
    parser.add_argument("--column", action="append", default=[], metavar="PORT=NAME", help="the column of a port")
    parser.add_argument("--episode-column", help="of Parquet files (episode or episode_index); '': each is one")
    parser.add_argument("--order-column", help="of Parquet files (step or frame_index); '': rows as they stand")
    parser.add_argument("--cast", action="store_true", help="Convert values to the port's dtype")
    parser.add_argument("--batch", type=int, default=1, help="episodes side by side in one worker (1)")
    parser.add_argument("--workers", type=int, help="processes on Ray; 0: this one (the cores, if Ray is installed)")
    parser.add_argument("--address", help="of a Ray cluster")
    parser.add_argument("--reset", choices=("exported", "zeros", "first-frame"), default="exported")
    parser.add_argument("--engine", choices=("auto", "native", "onnxruntime"), default="auto")
    parser.add_argument("--rtol", type=float, default=1e-3, help="relative tolerance (0.001)")
    parser.add_argument("--atol", type=float, default=1e-5, help="absolute tolerance (0.00001)")
    parser.add_argument("--worst", type=int, default=100, help="how many of the worst steps are listed (100)")
    parser.add_argument("--no-torchscript", action="store_true", help="refuse jit models, which are programs")
    parser.add_argument("--timeout", type=float, metavar="SECONDS", help="that loading, and each step, may take")
    parser.add_argument("--memory-limit", type=_size, metavar="SIZE", help="bytes that a bundle may ask for")
    parser.add_argument("--strict", action="store_true", help="stop at an episode that cannot be used")
    parser.add_argument("--overwrite", action="store_true", help="replace the results of another replay")
    parser.add_argument("--json", action="store_true", help="Print one JSON document instead of text")
    return parser


def _options(given: argparse.Namespace) -> ReplayOptions:
    columns = {}
    for one in given.column:
        port, sign, name = one.partition("=")
        if not sign or not name or "/" not in port:
            raise SystemExit(_complain(f"--column: expected NODE/PORT=NAME, found {one}"))
        columns[port] = name
    others = ("column", "json", "no_torchscript")
    told: dict[str, Any] = {key: value for key, value in vars(given).items() if key not in others}
    told |= {"columns": columns, "reset": given.reset.replace("-", "_"), "allow_torchscript": not given.no_torchscript}
    return ReplayOptions(**told)


def _complain(message: str) -> int:
    lines = "\n  ".join(printable(line) for line in message.split("\n"))
    if sys.stderr is not None:  # print() would take None for stdout
        with suppress(OSError):
            print(f"leapp: {lines}", file=sys.stderr)
    return 2


def _occupy_closed_descriptors() -> None:
    """Files get the lowest number that is free: what C++ has to say must not end up in one."""
    for number in range(3):
        try:
            os.fstat(number)
        except OSError:
            os.open(os.devnull, os.O_RDONLY if number else os.O_WRONLY)


def _say(text: str) -> int:
    """Print it. Returns 0, or 2 when it could not be written; who reads it may have seen enough."""
    try:
        if sys.stdout is None:
            raise OSError(errno.EBADF, os.strerror(errno.EBADF))
        sys.stdout.write(text)
        sys.stdout.flush()
        return 0
    except OSError as error:
        if sys.stdout is not None:  # what is left of the text would be tried again, and complained of, at the end
            with suppress(OSError, ValueError):
                os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        if isinstance(error, BrokenPipeError):
            return 0
        return _complain(f"cannot write the output: {error.strerror}")


def _size(text: str) -> int:
    """Bytes: 4000000000, 4GB, 500 MB."""
    found = re.fullmatch(r"(\d{1,18})\s*(?:([kMGT]?)B)?", text, re.IGNORECASE)
    if found is None or int(found[1]) == 0:
        raise argparse.ArgumentTypeError(f"expected a number of bytes as 4GB, found {printable(text)}")
    factor: int = 1000 ** " kmgt".index((found[2] or " ").lower())
    return int(found[1]) * factor


def _number(value: Any) -> str:
    return "" if value is None else f"{value:.3g}" if isinstance(value, float) else f"{value:,}"


def _plain(value: Any) -> Any:
    """JSON has no infinities, and nothing that is not a number."""
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _text(summary: ReplaySummary) -> str:
    text = [
        f"{summary.episodes:,} episodes, {summary.steps:,} steps {summary.where}"
        + (f", {summary.resumed:,} units were done before" if summary.resumed else "")
        + f": {summary.steps_per_second:,.0f} steps/s"
    ]
    head = ("output", "steps outside", "episodes outside", "mean diff.", "99 % below", "largest diff.")
    keys = ("port", "steps_outside", "episodes_outside", "mean_difference", "p99", "largest_difference")
    rows = [
        tuple(printable(row[key]) if key == "port" else _number(row[key]) for key in keys)
        for row in summary.rows["ports"]
    ]
    widths = [max(len(str(row[i])) for row in [head, *rows]) for i in range(len(head))]
    for row in [head, *rows]:
        cells = (
            str(cell).ljust(width) if i == 0 else str(cell).rjust(width)
            for i, (cell, width) in enumerate(zip(row, widths, strict=True))
        )
        text.append("  ".join(cells).rstrip())
    for worst in summary.rows["worst"][:1]:
        text.append(
            f"worst: {worst['episode']}, step {worst['step']}, {worst['port']}{worst['place']}: "
            f"{worst['found']:.6g}, expected {worst['expected']:.6g}"
        )
    text += [f"note: {note}" for note in summary.notes[:10]]
    if len(summary.notes) > 10:
        text.append(f"note: {len(summary.notes) - 10:,} more, in episodes.parquet")
    text += [f"left out: {skipped['episode']}: {skipped['why']}" for skipped in summary.rows["skipped"][:10]]
    if summary.skipped > 10:
        text.append(f"left out: {summary.skipped - 10:,} more, in skipped.parquet")
    text.append(f"written to {summary.folder / 'replay.html'}")
    return "".join(printable(line) + "\n" for line in text)


def _told(summary: ReplaySummary) -> dict[str, Any]:
    told = {key: getattr(summary, key) for key in ("episodes", "steps", "skipped", "resumed", "seconds", "notes")}
    told |= {"output": str(summary.folder), "ports": summary.rows["ports"], "worst": summary.rows["worst"][:20]}
    return told | {"left_out": summary.rows["skipped"]}


def main(arguments: Sequence[str] | None = None) -> int:
    """Exit code: 0 fine, 1 episodes were left out, 2 wrong usage or something that cannot be read or written."""
    _occupy_closed_descriptors()
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):  # not every encoding has every letter
            stream.reconfigure(errors="backslashreplace")
    given = _parser().parse_args(arguments)
    if len(given.bundles) > 2:
        return _complain(f"expected one or two bundles, found {len(given.bundles)}")
    try:
        summary = replay(_options(given))
    except (LeappError, OSError, RuntimeError) as error:
        return _complain(str(error))
    except KeyboardInterrupt:
        return _complain("interrupted; what was done is kept: run the same command again to go on")
    except Exception as error:  # of the packages that read strangers' files, and of numbers too large for them
        return _complain(f"{type(error).__name__}: {error}")
    text = json.dumps(_plain(_told(summary))) + "\n" if given.json else _text(summary)
    return _say(text) or (1 if summary.skipped else 0)


if __name__ == "__main__":
    sys.exit(main())
