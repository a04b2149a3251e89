# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Bundles that somebody vouches for: leapp.keygen, leapp.sign, leapp.verify, trusted_keys."""

from __future__ import annotations

import stat
import subprocess
from collections.abc import Callable
from pathlib import Path

import hand_made
import leapp
import pytest
import torch
from leapp import InferenceManager, annotate


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    return hand_made.recurrent(tmp_path)


@pytest.fixture
def keys(tmp_path: Path) -> tuple[Path, Path]:
    """Private and public."""
    secret, known = tmp_path / "release.private.pem", tmp_path / "release.public.pem"
    leapp.keygen(secret, known)
    return secret, known


def test_what_was_signed_runs(bundle: Path, keys: tuple[Path, Path]) -> None:
    secret, known = keys
    assert stat.S_IMODE(secret.stat().st_mode) == 0o600
    signature = leapp.sign(bundle, secret, serial=7)
    assert leapp.verify(bundle.parent, [known], minimum_serial=7) == signature
    assert signature.serial == 7
    manager = InferenceManager(bundle, trusted_keys=[known.read_text()])
    assert manager.signature == signature
    assert manager.run_policy(manager.zeros_input())["post/y"].shape == (1, 4)
    assert manager.nodes["pre"](*manager.zeros_input().values()) is not None  # loaded alone, and verified too
    assert InferenceManager(bundle).signature is None


def changed(folder: Path) -> None:
    path = folder / "policy.onnx"
    data = bytearray(path.read_bytes())
    data[-1] ^= 1
    path.write_bytes(data)


def removed(folder: Path) -> None:
    (folder / "initial.safetensors").unlink()


def added(folder: Path) -> None:
    (folder / "extra.bin").write_bytes(b"x")


def linked(folder: Path) -> None:
    (folder / "policy.onnx").rename(folder.parent / "policy.onnx")
    (folder / "policy.onnx").symlink_to(folder.parent / "policy.onnx")


def truncated(folder: Path) -> None:
    path = folder / "bundle.manifest"
    path.write_text(path.read_text()[:-10])


def unsigned(folder: Path) -> None:
    (folder / "bundle.manifest").unlink()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (changed, "policy.onnx"),
        (removed, "missing: initial.safetensors"),
        (added, "not signed: extra.bin"),
        (linked, "symlink"),
        (truncated, "cut off"),
        (unsigned, "found no manifest"),
    ],
)
def test_anything_else_is_refused(
    bundle: Path, keys: tuple[Path, Path], change: Callable[[Path], None], message: str
) -> None:
    secret, known = keys
    leapp.sign(bundle, secret)
    change(bundle.parent)
    with pytest.raises(ValueError, match=message):
        leapp.verify(bundle, [known])
    with pytest.raises(ValueError, match=message):
        InferenceManager(bundle, trusted_keys=[known], verify_checksums=False, allow_outside=True)


def test_keys_that_are_none(bundle: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    secret, known = keys
    leapp.sign(bundle, secret)
    rsa = subprocess.run(["openssl", "genrsa", "2048"], capture_output=True, text=True, check=True).stdout
    with pytest.raises(ValueError, match=r"expected an Ed25519 key, found RSA of 2048 bits"):
        leapp.sign(bundle, rsa)
    with pytest.raises(ValueError, match=r"trusted key 1 \(.*private one"):
        leapp.verify(bundle, [secret])
    with pytest.raises(ValueError, match="serial 3 or later, found 0"):
        InferenceManager(bundle, trusted_keys=[known], minimum_serial=3)
    with pytest.raises(FileNotFoundError):
        leapp.verify(bundle, [tmp_path / "nowhere.pem"])
    with pytest.raises(TypeError, match="a list of them"):
        leapp.verify(bundle, str(known))
    with pytest.raises(ValueError, match="at least one trusted key"):
        leapp.verify(bundle, [])
    with pytest.raises(OSError, match=r"release\.private\.pem"):
        leapp.keygen(secret, tmp_path / "other.pem")
    assert not (tmp_path / "other.pem").exists()


def test_openssl_reads_and_makes_the_same(bundle: Path, keys: tuple[Path, Path], tmp_path: Path) -> None:
    made = tmp_path / "made.pem"
    subprocess.run(["openssl", "genpkey", "-algorithm", "ed25519", "-out", made], check=True, capture_output=True)
    known = subprocess.run(["openssl", "pkey", "-in", made, "-pubout"], check=True, capture_output=True, text=True)
    leapp.sign(bundle, made)
    assert leapp.verify(bundle, [known.stdout]).signatures == 1
    # And what we have signed verifies without us.
    secret, public = keys
    key = leapp.sign(bundle, secret).key
    lines = (bundle.parent / "bundle.manifest").read_text().splitlines(keepends=True)
    (tmp_path / "text").write_text("".join(line for line in lines if not line.startswith("signature")))
    (ours,) = [line.split()[3] for line in lines if line.startswith(f"signature ed25519 {key}")]
    (tmp_path / "signature").write_bytes(bytes.fromhex(ours))
    command = ["openssl", "pkeyutl", "-verify", "-pubin", "-inkey", public, "-rawin"]
    command += ["-in", tmp_path / "text", "-sigfile", tmp_path / "signature"]
    assert "Verified Successfully" in subprocess.run(command, capture_output=True, text=True, check=True).stdout


def test_a_new_export_is_not_signed(tmp_path: Path, keys: tuple[Path, Path]) -> None:
    secret, known = keys

    def export(gain: float, dry_run: bool = False) -> Path:
        leapp.start("walk", save_path=tmp_path, dry_run=dry_run)
        x = annotate.input_tensors("policy", {"x": torch.ones(1, 2)})
        annotate.output_tensors("policy", {"y": x * gain}, export_with="onnx")
        leapp.stop()
        leapp.compile_graph(visualize=False)
        return tmp_path / "walk"

    folder = export(1.0)
    leapp.sign(folder, secret)
    assert leapp.verify(folder, [known]).files == 2
    with pytest.raises(ValueError, match=r"not the one that was signed.*walk\.yaml|found no manifest"):
        leapp.verify(export(2.0, dry_run=True), [known])
    leapp.sign(export(2.0), secret)
    leapp.verify(folder, [known])
    export(3.0)
    assert not (folder / "walk.manifest").exists()
    with pytest.raises(ValueError, match="found no manifest"):
        InferenceManager(folder, trusted_keys=[known])
