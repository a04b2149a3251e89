# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""keygen, sign, verify, and --trusted-key of the commands that load."""

from __future__ import annotations

import hashlib
import re
import stat
import subprocess
from pathlib import Path

import pytest
import tool

# A key that is nowhere else, so that what is signed with it is the same in every run.
SECRET = """-----BEGIN PRIVATE KEY-----
MC4CAQAwBQYDK2VwBCIEIEzNCJso/5banbbDRuwRTg9bijGfNaumJNqM9u1PuKb7
-----END PRIVATE KEY-----
"""


@pytest.fixture
def key(leapp: tool.Tool) -> str:
    (leapp.cwd / "release.private.pem").write_text(SECRET)
    command = ["openssl", "pkey", "-in", "release.private.pem", "-pubout", "-out", "release.public.pem"]
    subprocess.run(command, cwd=leapp.cwd, check=True)
    return "release.private.pem"


def test_sign_and_verify(leapp: tool.Tool, walk: Path, key: str) -> None:
    tool.check_golden("sign_walk.txt", leapp("sign", "walk", "--key", key, "--serial", 7))
    tool.check_golden("verify_walk.txt", leapp("verify", "walk", "--key", "release.public.pem"))
    tool.check_golden("verify_walk.json", leapp("verify", walk, "--key", "release.public.pem", "--json"))
    lines = (walk.parent / "walk.manifest").read_text().splitlines()
    assert lines[:3] == ["leapp manifest 1", "bundle walk.yaml", "serial 7"]
    names = ["policy.onnx", "post.onnx", "pre.onnx", "walk.yaml", "walk_initial_values.safetensors"]
    content = {name: (walk.parent / name).read_bytes() for name in names}
    assert lines[3:-1] == [
        f"file {hashlib.sha256(data).hexdigest()} {len(data)} {name}" for name, data in content.items()
    ]
    assert lines[-1].startswith("signature ed25519 ")
    again = leapp.json("sign", "walk", "--key", key, "--serial", 7)
    assert {"verified": True, **again} == leapp.json("verify", "walk", "--key", "release.public.pem")


def test_what_does_not_verify_is_a_finding(leapp: tool.Tool, walk: Path, key: str) -> None:
    known = "release.public.pem"
    assert "found no manifest" in " ".join(leapp("verify", "walk", "--key", known, code=1).split())
    leapp("sign", "walk", "--key", key, "--serial", 7)
    earlier = leapp("verify", "walk", "--key", known, "--minimum-serial", 8, code=1)
    assert "serial 8 or later, found 7" in " ".join(earlier.split())
    (walk.parent / "policy.onnx").write_bytes(b"something else")
    (walk.parent / "more.txt").write_text("x")
    found = " ".join(leapp("verify", "walk", "--key", known, code=1).split())
    assert "changed: policy.onnx (14 bytes, expected 221)" in found
    assert "not signed: more.txt" in found
    document = leapp.json("verify", "walk", "--key", known, code=1)
    assert document["verified"] is False
    assert "policy.onnx" in document["reason"]


def test_wrong_usage(leapp: tool.Tool, walk: Path, key: str) -> None:
    assert "found a private one" in leapp.error("verify", "walk", "--key", key)
    assert "PUBLIC KEY" in leapp.error("sign", "walk", "--key", "release.public.pem")
    assert "nowhere.pem" in leapp.error("sign", "walk", "--key", "nowhere.pem")
    assert "nowhere" in leapp.error("verify", "nowhere.yaml", "--key", "release.public.pem")
    assert "--key" in leapp.error("sign", "walk")
    assert not (walk.parent / "walk.manifest").exists()


def test_keygen(leapp: tool.Tool, walk: Path) -> None:
    text = leapp("keygen", "fleet")
    assert re.fullmatch(r"fleet\.private\.pem: .*\nfleet\.public\.pem: .*\nkey [0-9a-f]{64}\n", text)
    assert stat.S_IMODE((leapp.cwd / "fleet.private.pem").stat().st_mode) == 0o600
    assert "fleet.private.pem" in leapp.error("keygen", "fleet")
    assert leapp.json("keygen", "other")["public"] == "other.public.pem"
    leapp("sign", "walk", "--key", "fleet.private.pem")
    assert "beside 1 other" in leapp("sign", "walk", "--key", "other.private.pem")
    # Options may stand before the bundle.
    leapp("verify", "--key", "fleet.public.pem", "walk")
    leapp("verify", "walk", "--key", "nobody.public.pem", "--key", "fleet.public.pem", code=2)


def test_commands_that_load(leapp: tool.Tool, walk: Path, key: str) -> None:
    trusted = ("--trusted-key", "release.public.pem")
    assert "found no manifest" in leapp.error("run", *trusted, "walk", "--steps", 1)
    leapp("sign", "walk", "--key", key)
    leapp("run", *trusted, "walk", "--steps", 1)
    leapp("fuse", "walk", "--output", "walk_fused")
    assert not (leapp.cwd / "walk_fused" / "walk_fused.manifest").exists()


def test_without_leapp(leapp: tool.Tool, walk: Path, key: str) -> None:
    """What docs/reference/bundle_format.md shows verifies a signature, with coreutils and openssl alone."""
    page = (tool.ROOT / "docs/reference/bundle_format.md").read_text(encoding="utf-8")
    block = page.partition("Without LEAPP:\n\n```sh\n")[2].partition("```")[0]
    assert "openssl pkeyutl -verify" in block
    leapp("sign", "walk", "--key", key, "--serial", 7)
    manifest = walk.with_name("walk.manifest")
    (walk.parent / "release.public.pem").write_bytes((leapp.cwd / "release.public.pem").read_bytes())

    def verify() -> subprocess.CompletedProcess[str]:
        command = ["sh", "-e", "-c", block]
        return subprocess.run(command, cwd=walk.parent, capture_output=True, text=True, check=False)

    done = verify()
    assert done.returncode == 0, done.stderr
    assert done.stdout == "Signature Verified Successfully\n"
    manifest.write_text(manifest.read_text().replace("serial 7", "serial 8"))
    assert verify().returncode != 0
