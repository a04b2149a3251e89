# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Functions that ask look(x) and do different things with the answer. Not in a test, where pytest rewrites asserts."""

from __future__ import annotations

from typing import Any


def look(x: Any) -> bool:
    return bool(x)


def raises(x: Any) -> None:
    if look(x):
        raise ValueError(x)


def raises_unless(x: Any) -> None:
    if not look(x):
        message = "no"
        raise ValueError(message)


def asserts(x: Any) -> None:
    assert look(x), "text"


def raises_by_variable(x: Any) -> None:
    found = look(x)
    if found:
        raise ValueError


def raises_if_either(x: Any, y: Any) -> None:
    if y.flag or look(x):
        raise ValueError


def raises_in_a_loop(x: Any) -> None:
    for each in x:
        if look(each):
            raise ValueError


def raises_through_finally(x: Any) -> None:
    try:
        if look(x):
            raise ValueError
    finally:
        print("done")


def returns(x: Any) -> bool:
    return look(x)


def returns_a_choice(x: Any) -> int:
    if look(x):
        return 1
    return 2


def stores(x: Any) -> None:
    x.answer = look(x)


def chooses_and_stores(x: Any) -> None:
    if look(x):
        x.answer = 1
    else:
        x.answer = 2


def catches(x: Any) -> int:
    try:
        if look(x):
            raise ValueError
    except ValueError:
        x.answer = 1
    return 2


def catches_everything(x: Any) -> int:
    try:
        if look(x):
            raise ValueError
    except:  # noqa: E722
        x.answer = 1
    return 2
