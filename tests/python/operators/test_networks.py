# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""What larger networks do that small policies do not, one of each, on inputs that were not captured."""

from __future__ import annotations

import copy
import re
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


class RescaledInTheFirstCall(nn.Module):
    """RWKV: weights are written in place, once."""

    def __init__(self) -> None:
        super().__init__()
        self.project, self.ready = nn.Linear(8, 8), False

    def forward(self, x: Tensor) -> Tensor:
        if not self.ready:
            self.project.weight.div_(2)
            self.ready = True
        projected: Tensor = self.project(x)
        return projected


class GroupedRows(nn.Module):
    """A product for each expert's rows; some experts have none."""

    def __init__(self) -> None:
        super().__init__()
        self.router, self.weights = nn.Linear(8, 4), nn.Parameter(torch.randn(4, 8, 8))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.router(x).argmax(-1)
        order = chosen.argsort(stable=True)
        ends = nn.functional.one_hot(chosen, 4).sum(0).cumsum(0).to(torch.int32)
        grouped = torch._grouped_mm(x[order], self.weights, offs=ends)
        return torch.zeros_like(grouped).index_copy(0, order, grouped)


class MoreExpertsThanRows(GroupedRows):
    def __init__(self) -> None:
        super().__init__()
        self.router, self.weights = nn.Linear(8, 9), nn.Parameter(torch.randn(9, 8, 8))

    def forward(self, x: Tensor) -> Tensor:
        chosen = self.router(x).argmax(-1)
        order = chosen.argsort(stable=True)
        ends = nn.functional.one_hot(chosen, 9).sum(0).cumsum(0).to(torch.int32)
        return torch._grouped_mm(x[order], self.weights, offs=ends)


class ComplexSums(nn.Module):
    """einsum of two complex tensors, and of three."""

    def __init__(self) -> None:
        super().__init__()
        self.weight = nn.Parameter(torch.randn(6, 4, dtype=torch.cfloat))

    def forward(self, x: Tensor) -> Tensor:
        spectrum = torch.fft.rfft(x)[:, :4]
        both = torch.einsum("bi,bi->b", spectrum, self.weight)
        three = torch.einsum("bi,bi,bi->b", spectrum, self.weight, spectrum)
        return torch.view_as_real(both - three)


class LengthsOfSequences(nn.Module):
    """The lengths are computed from the input: which of its first elements are positive."""

    def __init__(self) -> None:
        super().__init__()
        self.gru = nn.GRU(8, 5, bidirectional=True, batch_first=True)

    def forward(self, x: Tensor) -> Tensor:
        sequences = torch.stack([x, x * 0.5, -x])
        lengths = 1 + (x[0, :3] > 0).long() * 4 + (x[1, :3] > 0).long()
        packed = nn.utils.rnn.pack_padded_sequence(sequences, lengths, batch_first=True, enforce_sorted=False)
        out, last = self.gru(packed)
        padded, _ = nn.utils.rnn.pad_packed_sequence(out, batch_first=True, total_length=7, padding_value=-1.0)
        return torch.cat([padded.flatten(), last.flatten()])


NETWORKS = [
    FilledInParts,
    RescaledInTheFirstCall,
    GroupedRows,
    MoreExpertsThanRows,
    ComplexSums,
    LengthsOfSequences,
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


def log_of(network: nn.Module, folder: Path) -> str:
    torch.manual_seed(0)
    return (export(network.eval(), folder, "jit") / "log.txt").read_text()


def test_memory_that_nobody_wrote_makes_no_call_differ(tmp_path: Path) -> None:
    """What lay there before is another thing in every call, and none of the model's."""

    class InHalves(nn.Module):
        def forward(self, x: Tensor) -> Tensor:
            torch.full((6, 8), x.sum().detach().exp().item())  # freed right away: the next of its size finds it
            out = torch.empty(6, 8)
            out[:, :4] = x[:, 4:] * 2
            out[:, 4:] = x[:, :4] + 1
            return out

    assert "a constant" not in log_of(InHalves(), tmp_path)


class FilledPastTheDispatcher(nn.Module):
    """torch.tensor and torch.Tensor take memory without content and fill it by themselves."""

    def forward(self, x: Tensor) -> Tensor:
        first, second = torch.tensor([1.0, 2.0, 3.0]), torch.Tensor([4.0, 5.0])
        first[0], second[1] = x[0, 0], x[0, 1]
        return torch.cat([first, second])


@BACKENDS
def test_what_was_filled_by_itself_is_content(backend: str, tmp_path: Path) -> None:
    manager = leapp.InferenceManager(export(FilledPastTheDispatcher(), tmp_path, backend))
    x = torch.full((6, 8), 9.0)
    assert manager({"net/x": x})["net/y"].tolist() == [9.0, 2.0, 3.0, 4.0, 9.0]


def test_a_packed_sequence_needs_a_total_length(tmp_path: Path) -> None:
    """Without one it is as long as the longest, and a model is not."""

    class Unpadded(LengthsOfSequences):
        def forward(self, x: Tensor) -> Tensor:
            lengths = 1 + (x[0, :3] > 0).long() * 4
            packed = nn.utils.rnn.pack_padded_sequence(
                torch.stack([x, x, x]), lengths, batch_first=True, enforce_sorted=False
            )
            padded, _ = nn.utils.rnn.pad_packed_sequence(self.gru(packed)[0], batch_first=True)
            return padded.sum((0, 1))

    with pytest.raises(leapp.LeappError, match="total_length"):
        export(Unpadded().eval(), tmp_path, "onnx")


class CountedInPython(nn.Module):
    """A cache of keys, and a Python number for the place of the next one."""

    def __init__(self) -> None:
        super().__init__()
        self.keys, self.position = torch.zeros(16, 8), 0

    def forward(self, x: Tensor) -> Tensor:
        key = torch.tanh(x[0])
        self.keys[self.position] = key
        self.position += 1
        return self.keys.sum(0)


class CountedInATensor(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.register_buffer("keys", torch.zeros(16, 8))
        self.register_buffer("position", torch.zeros(1, dtype=torch.long))

    def forward(self, x: Tensor) -> Tensor:
        self.keys.index_copy_(0, self.position, x[:1])
        self.position += 1
        return self.keys.sum(0)


def test_a_position_in_python_is_reported(tmp_path: Path) -> None:
    with pytest.raises(leapp.ValidationError, match=r"is 0 in call 0 and 8 in call 1") as raised:
        export(CountedInPython(), tmp_path, "onnx")
    text = str(raised.value)
    assert re.search(r"where: .*test_networks.py:\d+    self.keys\[self.position\] = key", text)
    assert "make the number a tensor" in text
    assert 'position = annotate.input_tensors("net", {"position": torch.as_tensor(self.position)})' in text
    assert "self.keys[position] = key" in text


@BACKENDS
def test_a_position_in_a_tensor_is_state(backend: str, tmp_path: Path) -> None:
    manager = leapp.InferenceManager(export(CountedInATensor(), tmp_path, backend))
    fresh = CountedInATensor()
    for x in inputs(8, seed=3):
        harness.assert_same([fresh(x)], [manager({"net/x": x})["net/y"]], rtol=1e-3, atol=1e-5)


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
