# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What larger networks do that small policies do not, one of each, on inputs that were not captured."""

from __future__ import annotations

import copy
from pathlib import Path

import harness
import leapp
import pytest
import torch
from leapp import annotate
from torch import Tensor, nn

BACKENDS = pytest.mark.parametrize("backend", ["jit", "onnx"])


class FilledInParts(nn.Module):
    """Rotary embeddings: every element of fresh memory is written before it is read."""

    def __init__(self) -> None:
        super().__init__()
        self.even, self.odd = torch.tensor([0, 2, 4, 6]), torch.tensor([1, 3, 5, 7])

    def forward(self, x: Tensor) -> Tensor:
        out = torch.empty(x.shape[0], 8)
        out[:, self.even] = x[:, :4] * 2
        out[:, self.odd] = x[:, 4:] + 1
        return out


class TableOfTheFirstCall(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.table: Tensor | None = None

    def forward(self, x: Tensor) -> Tensor:
        if self.table is None:
            self.table = torch.arange(8).float() * 0.1
        return x * self.table


class Experts(nn.Module):
    """Rows go to the expert that is chosen for them; an expert may have one, or none."""

    def __init__(self) -> None:
        super().__init__()
        self.router = nn.Linear(8, 4)
        self.experts = nn.ModuleList(nn.Linear(8, 8) for _ in range(4))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.router(x).argmax(-1)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            rows = torch.where(chosen == i)[0]
            out[rows] += expert(x[rows])
        return out


class BestTwoExperts(Experts):
    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2, -1)
        mask = nn.functional.one_hot(chosen, 4).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            which, rows = torch.where(mask[i])
            out.index_add_(0, rows, expert(x[rows]) * weights[rows, which, None])
        return out


class PaddedEncoder(nn.Module):
    """In eval mode torch takes nested tensors for this."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(8, 2, 16, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)
        self.padding = torch.tensor([[False, False, False, True, True, True]])

    def forward(self, x: Tensor) -> Tensor:
        encoded: Tensor = self.encoder(x[None], src_key_padding_mask=self.padding)
        return encoded[:, :3]


class StateThatIsTheOutput(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.cell = nn.GRUCell(8, 8)
        self.hidden = torch.zeros(6, 8)

    def forward(self, x: Tensor) -> Tensor:
        self.hidden = self.cell(x, self.hidden)
        return self.hidden


class AddedToATable(nn.Module):
    """Positions: torch's analysis of shapes takes the product of rows for one row here, once it is an addmm."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.positions = nn.Linear(8, 8), torch.arange(48.0).view(6, 8)

    def forward(self, x: Tensor) -> Tensor:
        return self.positions + self.project(x)


class Spectral(nn.Module):
    def forward(self, x: Tensor) -> Tensor:
        return torch.fft.irfft(torch.fft.rfft(x) * 0.5, n=8)


NETWORKS = [
    FilledInParts,
    TableOfTheFirstCall,
    Experts,
    BestTwoExperts,
    PaddedEncoder,
    StateThatIsTheOutput,
    AddedToATable,
    Spectral,
]


def inputs(count: int, seed: int) -> list[Tensor]:
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(6, 8, generator=generator) for _ in range(count)]


def export(network: nn.Module, folder: Path, backend: str) -> Path:
    leapp.start("net", save_path=str(folder))
    with torch.no_grad():
        for x in inputs(4, seed=1):
            annotate.output_tensors("net", {"y": network(annotate.input_tensors("net", {"x": x}))}, export_with=backend)
    leapp.stop()
    leapp.compile_graph()
    return folder / "net"


@BACKENDS
@pytest.mark.filterwarnings("ignore:.*nested tensors is in prototype")  # of the encoder, as it runs by itself
@pytest.mark.parametrize("kind", NETWORKS, ids=lambda kind: kind.__name__)
def test_the_model_is_right(kind: type[nn.Module], backend: str, tmp_path: Path) -> None:
    torch.manual_seed(0)
    network = kind().eval()
    fresh = copy.deepcopy(network)
    manager = leapp.InferenceManager(export(network, tmp_path, backend))
    with torch.no_grad():
        for x in inputs(8, seed=2):
            problem = harness.difference([fresh(x)], [manager({"net/x": x})["net/y"]], rtol=1e-3, atol=1e-5)
            assert problem is None, problem


def test_an_encoder_is_as_it_was(tmp_path: Path) -> None:
    forward = nn.TransformerEncoder.forward
    network = PaddedEncoder().eval()
    assert network.encoder.use_nested_tensor
    export(network, tmp_path, "jit")
    assert network.encoder.use_nested_tensor
    assert nn.TransformerEncoder.forward is forward


@pytest.mark.filterwarnings("ignore:.*")  # torch is about to move quantisation elsewhere, and says so
def test_packed_weights_are_refused_in_words(tmp_path: Path) -> None:
    plain = nn.Sequential(nn.Linear(8, 8))
    quantised = torch.ao.quantization.quantize_dynamic(plain, {nn.Linear}, dtype=torch.qint8)
    with pytest.raises(leapp.LeappError, match=r"quantized::linear_dynamic.*no model can hold") as raised:
        export(quantised, tmp_path, "jit")
    assert "INTERNAL ASSERT" not in str(raised.value)
