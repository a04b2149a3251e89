# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles that somebody vouches for, with Ed25519 keys as PEM.

>>> leapp.keygen("release.private.pem", "release.public.pem")  # once; the private one stays with you
>>> leapp.sign("walk", "release.private.pem")  # writes walk/walk.manifest
>>> leapp.verify("walk", ["release.public.pem"]).serial
0
>>> manager = leapp.InferenceManager("walk", trusted_keys=["release.public.pem"])

Wherever a key is asked for, it is given as its PEM text or as the path of a file that has it.
"""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from os import PathLike

from leapp import _runtime
from leapp.errors import LeappTypeError

__all__ = ["Key", "Signature", "key_texts", "keygen", "sign", "verify"]

Key = str | PathLike[str]


@dataclass(frozen=True)
class Signature:
    """Who has signed a bundle: the key's fingerprint, the serial it was given, how many files and signatures it has."""

    key: str
    serial: int
    files: int
    signatures: int


def keygen(private_file: str | PathLike[str], public_file: str | PathLike[str]) -> str:
    """Write a new pair of keys to two files that must not exist, and return its fingerprint.

    The private file is readable by its owner only. One that exists raises an OSError, and nothing is written.
    """
    return _runtime.keygen(private_file, public_file)


def sign(bundle: str | PathLike[str], key: Key, *, serial: int = 0) -> Signature:
    """Write the bundle's manifest: the SHA-256 and size of every file in its folder, signed.

    ``serial`` counts releases: ``minimum_serial`` and a ``Reloader`` refuse earlier ones. Signatures of other keys stay
    when they are of the same files and serial. Symlinks, models outside of the folder and a bundle that contradicts its
    own checksums raise a ValueError.
    """
    return Signature(*_runtime.sign(bundle, os.fspath(key), serial))


def verify(bundle: str | PathLike[str], keys: Sequence[Key], *, minimum_serial: int = 0) -> Signature:
    """Say who of these has signed the bundle as it is.

    Nobody, an earlier serial, or files that were changed, removed or added raise a ValueError that names both sides.
    """
    return Signature(*_runtime.verify(bundle, key_texts(keys), minimum_serial))


def key_texts(keys: Sequence[Key]) -> list[str]:
    """Texts and paths as texts. One key alone is no list of keys."""
    if isinstance(keys, (str, os.PathLike)):
        raise LeappTypeError("keys: expected a list of them, found one")
    return [os.fspath(key) for key in keys]
