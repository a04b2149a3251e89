# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Special functions in ONNX Runtime against eager: over their domains, at poles, infinities, zeros, NaN."""

from __future__ import annotations

import math
from collections.abc import Callable
from pathlib import Path

import pytest
import torch
import torch.nn.functional as F
from onnx_models import export

Function = Callable[..., torch.Tensor]
FLOATS = [torch.float32, torch.float64]

EDGES = [
    *(math.nan, math.inf, -math.inf, 0.0, -0.0, 1.0, -1.0, 2.0, -2.0, 3.0, 4.0, 8.0, 20.0, -20.0, -3.0, 0.5, -0.5),
    *(
        1e-30,
        -1e-30,
        1e-7,
        -1e-7,
        0.25,
        0.75,
        0.999999,
        -0.999,
        -5.5,
        34.0,
        90.0,
        -90.0,
        104.0,
        171.5,
        -171.5,
        1e3,
        -1e3,
    ),
]

UNARY: dict[str, Function] = {
    "airy_ai": torch.special.airy_ai,
    "bessel_j0": torch.special.bessel_j0,
    "bessel_j1": torch.special.bessel_j1,
    "bessel_y0": torch.special.bessel_y0,
    "bessel_y1": torch.special.bessel_y1,
    "digamma": torch.digamma,
    "erf": torch.erf,
    "erfc": torch.erfc,
    "erfcx": torch.special.erfcx,
    "erfinv": torch.erfinv,
    "i0": torch.i0,
    "i0e": torch.special.i0e,
    "i1": torch.special.i1,
    "i1e": torch.special.i1e,
    "lgamma": torch.lgamma,
    "log_ndtr": torch.special.log_ndtr,
    "modified_bessel_i0": torch.special.modified_bessel_i0,
    "modified_bessel_i1": torch.special.modified_bessel_i1,
    "modified_bessel_k0": torch.special.modified_bessel_k0,
    "modified_bessel_k1": torch.special.modified_bessel_k1,
    "ndtr": torch.special.ndtr,
    "ndtri": torch.special.ndtri,
    "polygamma_2": lambda x: torch.polygamma(2, x),
    "polygamma_5": lambda x: torch.polygamma(5, x),
    "scaled_modified_bessel_k0": torch.special.scaled_modified_bessel_k0,
    "scaled_modified_bessel_k1": torch.special.scaled_modified_bessel_k1,
    "spherical_bessel_j0": torch.special.spherical_bessel_j0,
    "trigamma": lambda x: torch.polygamma(1, x),
}
# Of these torch's own float64 has no more digits.
COARSE = {"airy_ai", "bessel_j0", "bessel_j1", "bessel_y0", "bessel_y1", "trigamma"}
WHOLE_POLES = {"trigamma"}  # where torch divides by the rounding error of sin(pi n), which no other sine has


def check(fn: Function, *inputs: torch.Tensor, save_path: Path, rtol: float = 2e-5, atol: float = 5e-6) -> None:
    found = export(fn, inputs, save_path)(*inputs)[0]
    torch.testing.assert_close(found, fn(*inputs), rtol=rtol, atol=atol, equal_nan=True)


@pytest.mark.parametrize("name", UNARY)
def test_functions_of_one_argument(name: str, tmp_path: Path) -> None:
    grid = torch.cat([torch.tensor(EDGES, dtype=torch.float64), torch.linspace(-12, 12, 331, dtype=torch.float64)])
    for dtype in FLOATS:
        x = grid.to(dtype)
        if name in WHOLE_POLES and dtype == torch.float64:
            x = x[(x > 0) | (x != x.floor())]
        fine = dtype == torch.float64 and name not in COARSE
        check(UNARY[name], x, save_path=tmp_path, **({"rtol": 1e-10, "atol": 1e-11} if fine else {}))


@pytest.mark.parametrize("name", UNARY)
def test_integers_become_floats(name: str, tmp_path: Path) -> None:
    check(UNARY[name], torch.arange(-3, 12), save_path=tmp_path)
    check(UNARY[name], torch.tensor([True, False]), save_path=tmp_path)


ELEMENTARY: dict[str, Function] = {
    name: getattr(torch, name) for name in ("acos", "acosh", "asin", "asinh", "atan", "atanh", "cosh", "sinh", "tan")
}


@pytest.mark.parametrize("name", ELEMENTARY)
def test_float64_of_functions_that_have_no_kernel(name: str, tmp_path: Path) -> None:
    grid = torch.linspace(-1.25, 1.25, 101, dtype=torch.float64)
    edges = torch.tensor([*EDGES, 1e200, -1e200, 709.5, -709.5], dtype=torch.float64)
    check(ELEMENTARY[name], torch.cat([grid, edges, grid * 10]), save_path=tmp_path, rtol=1e-11, atol=1e-14)


def test_float64_angles_and_gates(tmp_path: Path) -> None:
    sides = torch.tensor([0.0, -0.0, 1.0, -1.0, 0.3, -2.5, math.inf, -math.inf, math.nan, 1e-200], dtype=torch.float64)
    check(torch.atan2, sides[:, None], sides, save_path=tmp_path, rtol=1e-12, atol=1e-14)
    check(F.gelu, torch.linspace(-6, 6, 51, dtype=torch.float64), save_path=tmp_path, rtol=1e-11, atol=1e-14)


INTEGERS = [torch.int8, torch.int16, torch.int32, torch.int64, torch.uint8]


@pytest.mark.parametrize("dtype", INTEGERS)
def test_shifts_and_divisors(dtype: torch.dtype, tmp_path: Path) -> None:
    high = torch.iinfo(dtype).max
    x = torch.tensor([0, 1, 2, 7, 12, 97, high, high - 1, high // 3], dtype=dtype)
    x = torch.cat([x, -x]) if dtype != torch.uint8 else x
    counts = torch.tensor([0, 1, 3, 7, 8, 15, 31, 62, 63, 64, 100], dtype=dtype)
    if dtype != torch.uint8:
        counts = torch.cat([counts, -counts[1:3]])
    for fn in (torch.bitwise_left_shift, torch.bitwise_right_shift):
        check(fn, x[:, None], counts, save_path=tmp_path, rtol=0, atol=0)
    check(torch.gcd, x[:, None], x, save_path=tmp_path, rtol=0, atol=0)
    small = x[x.abs() < 100]
    check(torch.lcm, small[:, None], small, save_path=tmp_path, rtol=0, atol=0)
    check(lambda x: (x << 2) + (x >> 1), x, save_path=tmp_path, rtol=0, atol=0)


def test_half_precision(tmp_path: Path) -> None:
    x = torch.linspace(0.1, 6, 50)
    for dtype in (torch.float16, torch.bfloat16):
        for name in ("lgamma", "digamma", "erfinv", "i0"):
            check(UNARY[name], x.to(dtype), save_path=tmp_path, rtol=1e-2, atol=1e-2)


BINARY: dict[str, tuple[Function, list[float], list[float]]] = {
    "igamma": (
        torch.igamma,
        [0.0, 1e-5, 0.3, 1.0, 1.5, 10.0, 21.0, 150.0, 1000.0, 1e5, math.inf, -1.0, math.nan],
        [0.0, 1e-5, 0.3, 0.9, 1.0, 1.2, 9.0, 20.0, 24.0, 140.0, 1010.0, 1e5 + 300, math.inf, -1.0, math.nan],
    ),
    "igammac": (
        torch.igammac,
        [0.0, 1e-5, 0.3, 1.0, 1.5, 10.0, 21.0, 150.0, 1000.0, 1e5, math.inf, -1.0, math.nan],
        [0.0, 1e-5, 0.3, 0.9, 1.0, 1.2, 9.0, 20.0, 24.0, 140.0, 1010.0, 1e5 + 300, math.inf, -1.0, math.nan],
    ),
    "zeta": (
        torch.special.zeta,
        [1.0, 0.5, -1.0, 1.001, 1.5, 2.0, 3.0, 7.5, 20.0, 100.0, 1e10, math.inf, math.nan],
        [-math.inf, -10.25, -3.5, -2.0, -0.25, 0.0, 1e-5, 0.1, 1.0, 9.0, 10.0, 1e5, math.inf, math.nan],
    ),
    "nextafter": (
        torch.nextafter,
        [0.0, -0.0, 1.0, -1.0, 2.0, 0.1, 1e-40, -1e-45, 3.4028234663852886e38, 1e-38, math.inf, -math.inf, math.nan],
        [0.0, 1.0, -1.0, math.inf, -math.inf, 1e-45, math.nan],
    ),
}


@pytest.mark.parametrize("name", BINARY)
@pytest.mark.parametrize("dtype", FLOATS)
def test_functions_of_two_arguments(name: str, dtype: torch.dtype, tmp_path: Path) -> None:
    fn, first, second = BINARY[name]
    a = torch.tensor(first, dtype=dtype)[:, None]
    exactly = {"rtol": 0.0, "atol": 0.0} if name == "nextafter" else {}
    check(fn, a, torch.tensor(second, dtype=dtype), save_path=tmp_path, **exactly)


def test_frexp_takes_numbers_apart(tmp_path: Path) -> None:
    for dtype in FLOATS:
        smallest = torch.finfo(dtype).smallest_normal / 8
        x = torch.tensor([*EDGES, smallest, torch.finfo(dtype).max, 2.0**-20, 1023.99999], dtype=dtype)
        for found, expected in zip(export(torch.frexp, [x], tmp_path)(x), torch.frexp(x), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0, equal_nan=True)


def test_multivariate_gamma(tmp_path: Path) -> None:
    for p in (1, 3, 5):
        check(lambda x, p=p: torch.mvlgamma(x, p), torch.linspace(2.01, 40, 60), save_path=tmp_path)


POLYNOMIALS = {
    name: getattr(torch.special, name)
    for name in (
        *("chebyshev_polynomial_t", "chebyshev_polynomial_u", "chebyshev_polynomial_v", "chebyshev_polynomial_w"),
        *("shifted_chebyshev_polynomial_t", "shifted_chebyshev_polynomial_u", "shifted_chebyshev_polynomial_v"),
        *("shifted_chebyshev_polynomial_w", "hermite_polynomial_h", "hermite_polynomial_he"),
        *("laguerre_polynomial_l", "legendre_polynomial_p"),
    )
}
ARGUMENTS = [0.0, 1.0, -1.0, 0.5, -0.5, 0.25, 0.999, 1.1, -1.2, 2.0, -3.0, 9.0]


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_a_degree_that_is_data(name: str, tmp_path: Path) -> None:
    fn = POLYNOMIALS[name]
    x = torch.tensor(ARGUMENTS)[:, None]
    exported = export(fn, [x, torch.ones(5)], tmp_path)  # captured with another degree
    for degrees in ([-1.0, 0.0, 1.0, 2.0, 3.9], [6.0, 7.0, 9.0, 12.0, 17.0], [0.0] * 5):
        n = torch.tensor(degrees)
        torch.testing.assert_close(exported(x, n)[0], fn(x, n), rtol=1e-4, atol=1e-4)
    wide = x.double(), torch.tensor([5.0, 30.0, 200.0, 600.0], dtype=torch.float64)
    check(fn, *wide, save_path=tmp_path, rtol=1e-8, atol=1e-8)


@pytest.mark.parametrize("name", POLYNOMIALS)
def test_polynomials_of_a_known_degree(name: str, tmp_path: Path) -> None:
    fn = POLYNOMIALS[name]
    x = torch.tensor(ARGUMENTS)
    for degree in (0, 1, 4, 11, 40):
        if "chebyshev" not in name and degree > 16:  # rounding alone is larger than the tolerance
            continue
        check(lambda x, n=degree: fn(x, n), x, save_path=tmp_path, rtol=1e-4, atol=1e-4)
    small = export(lambda x: fn(x, 3), [x], tmp_path).model
    assert "Loop" not in [node.op_type for node in small.graph.node]


def test_overflow_is_as_in_torch(tmp_path: Path) -> None:
    x = torch.tensor([9.0, -9.0])[:, None]
    n = torch.arange(20.0, 60.0)
    fn = torch.special.chebyshev_polynomial_t
    found = export(fn, [x, n], tmp_path)(x, n)[0]
    assert found.isnan().any()
    assert found.isinf().any()
    torch.testing.assert_close(found, fn(x, n), equal_nan=True, rtol=1e-4, atol=0)


@pytest.mark.parametrize("opset", [13, 15, 17, 21, 23])
def test_every_family_in_older_opsets(opset: int, tmp_path: Path) -> None:
    x = torch.linspace(0.05, 0.95, 7)
    for fn in (
        torch.lgamma,
        torch.erfinv,
        torch.special.bessel_y1,
        torch.special.airy_ai,
        torch.i0,
        torch.special.ndtri,
    ):
        exported = export(fn, [x], tmp_path, opset_version=opset)
        torch.testing.assert_close(exported(x)[0], fn(x), rtol=1e-5, atol=1e-5)
    legendre = torch.special.legendre_polynomial_p
    exported = export(legendre, [x, x * 20], tmp_path, opset_version=opset)
    torch.testing.assert_close(exported(x, x * 20)[0], legendre(x, x * 20), rtol=1e-4, atol=1e-4)


@pytest.mark.parametrize("zero_infinity", [True, False])
def test_ctc_loss_of_lengths_that_are_data(zero_infinity: bool, tmp_path: Path) -> None:
    def fn(logits: torch.Tensor, targets: torch.Tensor, inputs: torch.Tensor, lengths: torch.Tensor) -> torch.Tensor:
        logs = logits.log_softmax(2)
        return F.ctc_loss(logs, targets, inputs, lengths, reduction="none", zero_infinity=zero_infinity)

    torch.manual_seed(0)
    logits = torch.randn(9, 4, 6)
    targets = torch.tensor([[1, 2, 3, 4], [2, 2, 2, 2], [5, 1, 5, 1], [3, 3, 0, 0]])
    exported = export(fn, [logits, targets, torch.full((4,), 9), torch.full((4,), 4)], tmp_path)
    # As long as needed, too short for the blanks between equal labels, empty.
    for inputs, lengths in (([9, 9, 9, 9], [4, 4, 4, 2]), ([9, 5, 1, 4], [4, 4, 1, 0]), ([4, 7, 8, 9], [1, 2, 3, 1])):
        data = [torch.randn(9, 4, 6), targets, torch.tensor(inputs), torch.tensor(lengths)]
        torch.testing.assert_close(exported(*data)[0], fn(*data), rtol=1e-4, atol=1e-4)


def test_repeats_that_are_data_with_a_known_sum(tmp_path: Path) -> None:
    def fn(x: torch.Tensor, repeats: torch.Tensor) -> torch.Tensor:
        return torch.repeat_interleave(x, repeats, dim=0, output_size=6)

    x = torch.randn(3, 2)
    exported = export(fn, [x, torch.tensor([1, 2, 3])], tmp_path)
    for repeats in ([3, 0, 3], [0, 6, 0], [2, 2, 2]):
        data = [torch.randn(3, 2), torch.tensor(repeats)]
        torch.testing.assert_close(exported(*data)[0], fn(*data), rtol=0, atol=0)
    with pytest.raises(
        ValueError, match=r"depends on data \(through aten::repeat_interleave at .*test_onnx_special.py:\d+"
    ):
        export(lambda x, r: torch.repeat_interleave(x, r, dim=0), [x, torch.tensor([1, 2, 3])], tmp_path)


def test_fractional_windows_move_with_their_numbers(tmp_path: Path) -> None:
    def fn(x: torch.Tensor, samples: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        return F.fractional_max_pool2d_with_indices(x, (3, 2), output_size=(4, 5), _random_samples=samples)

    exported = export(fn, [torch.randn(2, 3, 11, 13), torch.rand(2, 3, 2)], tmp_path)
    for _ in range(5):
        data = [torch.randn(2, 3, 11, 13), torch.rand(2, 3, 2)]
        for found, expected in zip(exported(*data), fn(*data), strict=True):
            torch.testing.assert_close(found, expected, rtol=0, atol=0)
