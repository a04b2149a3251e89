# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Linear algebra and Fourier transforms in ONNX beyond the database's samples: sizes, ranks, chains of operators."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch
from harness import as_ports, assert_same, cloned
from onnx_models import OnnxExported, export
from torch import Tensor
from torch.linalg import eigh, lstsq, lu_factor, pinv, qr, solve, svd

Function = Callable[..., Tensor | Sequence[Tensor]]


def check(fn: Function, inputs: list[Tensor], save_path: Path, **tolerance: float) -> OnnxExported:
    """Exports with `inputs` and compares with eager on others."""
    exported = export(fn, inputs, save_path)
    for fresh in (inputs, [t.flip(-1) * 0.7 for t in inputs]):
        assert_same(as_ports(fn(*cloned(fresh))), exported(*cloned(fresh)), **tolerance)
    return exported


def loops(exported: OnnxExported) -> int:
    return sum(node.op_type == "Loop" for node in exported.model.graph.node)


def matrix(*shape: int) -> Tensor:
    return torch.randn(*shape) + 3 * torch.eye(shape[-2], shape[-1])


@pytest.mark.parametrize("size", [3, 8, 9, 30])
def test_small_systems_are_written_out_and_large_ones_loop(size: int, tmp_path: Path) -> None:
    exported = check(lambda a, b: solve(a, b), [matrix(2, size, size), torch.randn(2, size, 2)], tmp_path, rtol=1e-3)
    assert (loops(exported) > 0) == (size > 8)


def test_every_operator_of_a_size_that_loops(tmp_path: Path) -> None:
    def fn(a: Tensor, b: Tensor) -> list[Tensor]:
        factors, pivots = lu_factor(a)
        q, r = qr(a)
        positive = a.mT @ a + torch.eye(11)
        return [
            factors,
            pivots,
            torch.linalg.lu_solve(factors, pivots, b),
            q,
            r,
            torch.cholesky_solve(b, torch.linalg.cholesky(positive)),
            torch.linalg.inv(a),
            torch.linalg.matrix_exp(a / 5),
            torch.linalg.eigvalsh(positive),
        ]

    check(fn, [matrix(11, 11), torch.randn(11, 3)], tmp_path, rtol=1e-3, atol=1e-4)


@pytest.mark.parametrize("shape", [(4, 4), (7, 3), (3, 7), (2, 6, 5)])
@pytest.mark.parametrize("full", [False, True])
def test_singular_vectors_of_which_the_signs_cancel(shape: tuple[int, ...], full: bool, tmp_path: Path) -> None:
    def fn(x: Tensor) -> list[Tensor]:
        u, s, vh = svd(x, full_matrices=full)
        size = s.shape[-1]
        return [s, u[..., :size] @ vh[..., :size, :], u @ u.mT, vh.mT @ vh]

    check(fn, [torch.randn(shape)], tmp_path, rtol=1e-4, atol=1e-5)


def test_the_rotation_between_flat_clouds_of_points(tmp_path: Path) -> None:
    # Kabsch's method; points in a plane leave one singular value zero, whose vectors have to be made up.
    def fn(p: Tensor, q: Tensor) -> Tensor:
        u, _, vh = svd(p.mT @ q)
        sign = torch.linalg.det(vh.mT @ u.mT).sign()
        return vh.mT @ torch.diag(torch.stack([sign.new_ones(()), sign.new_ones(()), sign])) @ u.mT

    points = torch.randn(6, 3) * torch.tensor([1.0, 2.0, 0.0])
    turn = torch.linalg.matrix_exp(torch.tensor([[0.0, 0.3, -0.2], [-0.3, 0.0, 0.5], [0.2, -0.5, 0.0]]))
    exported = export(fn, [points, points @ turn], tmp_path)
    assert_same([turn.mT], exported(points, points @ turn), rtol=1e-4, atol=1e-5)


def test_a_root_of_a_matrix_by_its_eigenvectors(tmp_path: Path) -> None:
    def fn(x: Tensor) -> Tensor:
        values, vectors = eigh(x @ x.mT + torch.eye(6))
        return vectors @ torch.diag_embed(values.sqrt()) @ vectors.mT

    check(fn, [torch.randn(3, 6, 6)], tmp_path, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("fn", [lambda x: svd(x)[0], lambda x: eigh(x @ x.mT)[1][:, 0] * 2])
def test_signs_that_reach_an_output_are_refused(fn: Function, tmp_path: Path) -> None:
    with pytest.raises(NotImplementedError, match=r"signs of singular vectors .* test_onnx_matrices.py|signs"):
        export(fn, [torch.randn(4, 4)], tmp_path)


def test_singular_matrices(tmp_path: Path) -> None:
    def fn(x: Tensor) -> list[Tensor]:
        low = x[:, :2] @ x[:2, :]
        return [
            pinv(low),
            torch.linalg.matrix_rank(low),
            torch.linalg.matrix_norm(low, "nuc"),
            lstsq(low, x, driver="gelsd").solution,
            torch.linalg.inv_ex(torch.zeros(3, 3) + x[0, 0] * 0).info,
        ]

    check(fn, [matrix(5, 5)], tmp_path, rtol=1e-3, atol=1e-4)


def test_equal_and_zero_eigenvalues(tmp_path: Path) -> None:
    def fn(x: Tensor) -> list[Tensor]:
        return [torch.linalg.eigvalsh(x), torch.linalg.svdvals(x), torch.linalg.eigvalsh(x * 0)]

    exported = export(fn, [torch.eye(5)], tmp_path)
    for x in (torch.eye(5), -torch.eye(5), torch.diag(torch.tensor([2.0, -2.0, 2.0, 0.0, 0.0])), torch.ones(5, 5)):
        assert_same(as_ports(fn(x)), exported(x), atol=1e-5)


def test_the_exponential_of_large_and_small_matrices_in_one_batch(tmp_path: Path) -> None:
    scales = torch.tensor([0.0, 1e-3, 1.0, 20.0]).reshape(4, 1, 1)
    turn = torch.tensor([[0.0, -1.0], [1.0, 0.0]])
    exported = export(torch.linalg.matrix_exp, [scales * turn], tmp_path)
    for factor in (1.0, -1.5, 100.0):
        angles = (factor * scales.double()).reshape(4)
        expected = torch.stack([angles.cos(), -angles.sin(), angles.sin(), angles.cos()], 1).reshape(4, 2, 2).float()
        assert_same([expected], exported(scales * turn * factor), atol=1e-4)


def test_a_filter_in_the_frequency_domain(tmp_path: Path) -> None:
    window = torch.hann_window(9)

    def fn(x: Tensor) -> list[Tensor]:
        spectrum = torch.fft.rfft(x, norm="ortho")
        filtered = torch.fft.irfft(spectrum * window * (0.5 - 1j), n=16, norm="ortho")
        return [filtered, spectrum.abs(), spectrum.angle().cos(), (spectrum * spectrum.conj()).real.sum(-1)]

    check(fn, [torch.randn(3, 16)], tmp_path, atol=1e-5)


@pytest.mark.parametrize("size", [6, 7, 300, 512])
@pytest.mark.parametrize("opset", [13, 18, 20])
def test_there_and_back(size: int, opset: int, tmp_path: Path) -> None:
    def fn(x: Tensor) -> list[Tensor]:
        spectrum = torch.fft.fft(torch.complex(x, x.flip(-1)))
        back = torch.fft.ifft(spectrum)
        return [torch.view_as_real(spectrum), back.real, back.imag, torch.fft.irfft(torch.fft.rfft(x), n=size)]

    x = torch.randn(2, size)
    exported = export(fn, [x], tmp_path, opset_version=opset)
    assert_same(as_ports(fn(x)), exported(x), atol=1e-5)
    assert any(node.op_type == "DFT" for node in exported.model.graph.node) == (size > 256 and opset >= 17)


def test_a_spectrogram(tmp_path: Path) -> None:
    window = torch.hann_window(16)

    def fn(x: Tensor) -> Tensor:
        return torch.stft(x, 16, hop_length=4, window=window, return_complex=True).abs().square().log1p()

    check(fn, [torch.randn(2, 80)], tmp_path, atol=1e-5)


def test_complex_arithmetic_inside_a_node(tmp_path: Path) -> None:
    def fn(x: Tensor, y: Tensor) -> list[Tensor]:
        z = torch.complex(x, y)
        w = torch.cat([z, x.to(torch.complex64)], 0)[1:].transpose(0, 1)
        turned = z * torch.polar(torch.ones_like(x), y)
        product = w.reshape(-1, 2).mH @ w.reshape(-1, 2)
        return [t for value in (turned / (z + 2), w.sum(0) - 1j, product, z.exp()) for t in (value.real, value.imag)]

    check(fn, [torch.randn(3, 4), torch.randn(3, 4)], tmp_path, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [5, 11])
def test_symmetric_matrices_that_need_blocks_of_two(size: int, tmp_path: Path) -> None:
    def fn(x: Tensor, b: Tensor) -> list[Tensor]:
        symmetric = (x + x.mT) * (1 - torch.eye(size))  # zeros on the diagonal: no single pivot will do at first
        factors, pivots = torch.linalg.ldl_factor(symmetric)
        return [factors, pivots, torch.linalg.ldl_solve(factors, pivots, b)]

    exported = check(fn, [torch.randn(3, size, size), torch.randn(3, size, 2)], tmp_path, rtol=1e-3, atol=1e-4)
    assert int(exported.eager[1].min()) < 0
