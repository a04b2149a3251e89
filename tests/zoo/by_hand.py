# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Networks without memory that no library below has, or has in one form only."""

from __future__ import annotations

from collections.abc import Callable, Mapping

import torch
from catalogue import Case, Inputs, Maker, images, numbers, tokens
from torch import Tensor, nn
from torch.nn import functional
from torch.nn.utils.rnn import pack_padded_sequence, pad_packed_sequence


class RotaryInParts(nn.Module):
    """Attention whose rotary embedding fills fresh memory piece by piece."""

    def __init__(self, width: int = 32, heads: int = 4) -> None:
        super().__init__()
        self.heads, self.project, self.out = heads, nn.Linear(width, 3 * width), nn.Linear(width, width)

    def rotate(self, x: Tensor) -> Tensor:
        half = x.shape[-1] // 2
        angles = torch.arange(x.shape[-2])[:, None] / 100 ** (torch.arange(half) / half)
        out = torch.empty_like(x)
        out[..., :half] = x[..., :half] * angles.cos() - x[..., half:] * angles.sin()
        out[..., half:] = x[..., half:] * angles.cos() + x[..., :half] * angles.sin()
        return out

    def forward(self, x: Tensor) -> Tensor:
        q, k, v = self.project(x).unflatten(-1, (3, self.heads, -1)).permute(2, 0, 3, 1, 4)
        mixed = functional.scaled_dot_product_attention(self.rotate(q), self.rotate(k), v, is_causal=True)
        attended: Tensor = self.out(mixed.transpose(1, 2).flatten(2))
        return attended


class LoopedExperts(nn.Module):
    """The two best of eight experts for each token, those without a token skipped."""

    def __init__(self, width: int = 16, experts: int = 8) -> None:
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.experts = nn.ModuleList(
            nn.Sequential(nn.Linear(width, 32), nn.SiLU(), nn.Linear(32, width)) for _ in range(experts)
        )

    def forward(self, x: Tensor) -> Tensor:
        weights, chosen = self.router(x).softmax(-1).topk(2, -1)
        mask = functional.one_hot(chosen, len(self.experts)).permute(2, 1, 0)
        out = torch.zeros_like(x)
        for i, expert in enumerate(self.experts):
            which, rows = torch.where(mask[i])
            out.index_add_(0, rows, expert(x[rows]) * weights[rows, which, None])
        return out


class GroupedExperts(nn.Module):
    """Tokens sorted by expert, one grouped matrix product for all of them, sorted back."""

    def __init__(self, width: int = 16, experts: int = 4) -> None:
        super().__init__()
        self.router = nn.Linear(width, experts)
        self.first = nn.Parameter(torch.randn(experts, width, 32) * 0.2)
        self.second = nn.Parameter(torch.randn(experts, 32, width) * 0.2)

    def forward(self, x: Tensor) -> Tensor:
        gate, chosen = self.router(x).softmax(-1).max(-1)
        order = chosen.argsort()
        ends = functional.one_hot(chosen, self.first.shape[0]).sum(0).cumsum(0).to(torch.int32)
        hidden = functional.silu(torch._grouped_mm(x[order], self.first, offs=ends))
        mixed = torch._grouped_mm(hidden, self.second, offs=ends)
        return torch.empty_like(mixed).index_copy(0, order, mixed) * gate[:, None]


class SwitchExperts(nn.Module):
    """Capacity: each expert takes its first two tokens, the rest pass by."""

    def __init__(self, width: int = 16, experts: int = 4) -> None:
        super().__init__()
        self.router, self.weights = nn.Linear(width, experts), nn.Parameter(torch.randn(experts, width, width) * 0.2)

    def forward(self, x: Tensor) -> Tensor:
        probabilities = self.router(x).softmax(-1)
        hot = functional.one_hot(probabilities.argmax(-1), 4)
        place = (hot.cumsum(0) - 1) * hot
        kept = hot * (place < 2)
        slots = functional.one_hot(place.clamp(0, 1), 2) * kept[..., None]
        packed = torch.einsum("tes,td->esd", slots.float(), x)
        done = torch.einsum("esd,edf->esf", packed, self.weights)
        return x + torch.einsum("tes,esf->tf", slots * probabilities[..., None], done)


class ImageTokens(nn.Module):
    """Image features take the places of the image's tokens in a sentence."""

    def __init__(self, width: int = 16) -> None:
        super().__init__()
        self.words, self.patches = nn.Embedding(50, width), nn.Linear(12, width)
        layer = nn.TransformerEncoderLayer(width, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 1)

    def forward(self, ids: Tensor, patches: Tensor) -> Tensor:
        embedded = self.words(ids)
        here = (ids == 49)[..., None].expand_as(embedded)
        encoded: Tensor = self.encoder(embedded.masked_scatter(here, self.patches(patches)))
        return encoded


class PaddedEncoder(nn.Module):
    """A sentence and which of its words are padding: torch takes nested tensors for this in eval mode."""

    def __init__(self) -> None:
        super().__init__()
        layer = nn.TransformerEncoderLayer(16, 2, 32, batch_first=True)
        self.encoder = nn.TransformerEncoder(layer, 2)

    def forward(self, x: Tensor, lengths: Tensor) -> Tensor:
        padding = torch.arange(x.shape[1])[None] >= lengths[:, None]
        encoded: Tensor = self.encoder(x, src_key_padding_mask=padding)
        return encoded.masked_fill(padding[..., None], 0.0)


class PackedLstm(nn.Module):
    """Sequences of different lengths, which are an input."""

    def __init__(self) -> None:
        super().__init__()
        self.lstm = nn.LSTM(8, 16, num_layers=2, batch_first=True, bidirectional=True)

    def forward(self, x: Tensor, lengths: Tensor) -> tuple[Tensor, Tensor]:
        packed = pack_padded_sequence(x, lengths, batch_first=True, enforce_sorted=False)
        out, (hidden, _) = self.lstm(packed)
        padded, _ = pad_packed_sequence(out, batch_first=True, total_length=x.shape[1])
        return padded, hidden


class SpectralConv(nn.Module):
    def __init__(self, width: int, modes: int, dimensions: int) -> None:
        super().__init__()
        self.modes, self.dimensions = modes, dimensions
        shape = (width, width, *[modes] * dimensions)
        self.weight = nn.Parameter(torch.randn(*shape, dtype=torch.cfloat) / width)
        self.skip = nn.Conv1d(width, width, 1) if dimensions == 1 else nn.Conv2d(width, width, 1)

    def forward(self, x: Tensor) -> Tensor:
        axes = tuple(range(-self.dimensions, 0))
        spectrum = torch.fft.rfftn(x, dim=axes)
        low = (..., *[slice(0, self.modes)] * self.dimensions)
        letters = "xy"[: self.dimensions]
        mixed = torch.zeros_like(spectrum)
        mixed[low] = torch.einsum(f"bi{letters},io{letters}->bo{letters}", spectrum[low], self.weight)
        back: Tensor = torch.fft.irfftn(mixed, s=x.shape[-self.dimensions :], dim=axes) + self.skip(x)
        return back


class FourierOperator(nn.Module):
    def __init__(self, dimensions: int) -> None:
        super().__init__()
        convolution = nn.Conv1d if dimensions == 1 else nn.Conv2d
        self.lift, self.lower = convolution(1, 8, 1), convolution(8, 1, 1)
        self.blocks = nn.ModuleList(SpectralConv(8, 4, dimensions) for _ in range(2))

    def forward(self, x: Tensor) -> Tensor:
        x = self.lift(x)
        for block in self.blocks:
            x = functional.gelu(block(x))
        lowered: Tensor = self.lower(x)
        return lowered


class KeyPoints(nn.Module):
    """The strongest corners of a picture, refined, with a description of each."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk = nn.Sequential(nn.Conv2d(1, 8, 3, padding=1), nn.ReLU(), nn.Conv2d(8, 8, 3, padding=1))
        self.score, self.describe = nn.Conv2d(8, 1, 1), nn.Conv2d(8, 16, 1)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor, Tensor]:
        features = self.trunk(image)
        score = self.score(features)
        peaks = score == functional.max_pool2d(score, 3, stride=1, padding=1)
        best, place = torch.where(peaks, score, score.new_full((), -1e4)).flatten().topk(10)
        y, x = place // image.shape[-1], place % image.shape[-1]
        grid = torch.stack([x / image.shape[-1] * 2 - 1, y / image.shape[-2] * 2 - 1], -1)
        described = functional.grid_sample(self.describe(features), grid[None, None], align_corners=False)
        return torch.stack([x, y], -1), best, functional.normalize(described[0, :, 0].T, dim=-1)


class ThresholdedPoints(nn.Module):
    """All points above a threshold, however many, pooled into one descriptor."""

    def __init__(self) -> None:
        super().__init__()
        self.trunk, self.point = nn.Conv2d(1, 8, 3, padding=1), nn.Linear(10, 16)

    def forward(self, image: Tensor) -> tuple[Tensor, Tensor]:
        features = self.trunk(image)[0]
        y, x = torch.nonzero(features[0] > 0.2, as_tuple=True)
        points = torch.cat([features[:, y, x].T, torch.stack([x, y], -1) / 16], -1)
        described = functional.relu(self.point(points))
        return described.amax(0), described.mean(0)


class PointNet(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Sequential(nn.Conv1d(3, 16, 1), nn.BatchNorm1d(16), nn.ReLU(), nn.Conv1d(16, 32, 1))
        self.head = nn.Linear(32, 5)

    def forward(self, points: Tensor) -> Tensor:
        answer: Tensor = self.head(self.each(points.transpose(1, 2)).amax(-1))
        return answer


class FarthestPoints(nn.Module):
    """Grouping of PointNet++: the farthest points, and for each the nearest neighbours."""

    def __init__(self) -> None:
        super().__init__()
        self.each = nn.Linear(3, 16)

    def forward(self, points: Tensor) -> Tensor:
        chosen = [torch.zeros((), dtype=torch.long)]
        distance = torch.full((points.shape[0],), 1e10)
        for _ in range(7):
            distance = torch.minimum(distance, (points - points[chosen[-1]]).square().sum(-1))
            chosen.append(distance.argmax())
        centres = points[torch.stack(chosen)]
        near = torch.cdist(centres, points).topk(4, largest=False).indices
        return functional.relu(self.each(points[near] - centres[:, None])).amax(1)


class MessagePassing(nn.Module):
    """A graph whose edges are an input."""

    def __init__(self) -> None:
        super().__init__()
        self.message, self.update = nn.Linear(16, 8), nn.GRUCell(8, 8)

    def forward(self, nodes: Tensor, edges: Tensor) -> Tensor:
        for _ in range(3):
            sent = functional.relu(self.message(torch.cat([nodes[edges[0]], nodes[edges[1]]], -1)))
            received = torch.zeros_like(nodes).index_add(0, edges[1], sent)
            degree = torch.zeros(nodes.shape[0]).index_add(0, edges[1], torch.ones(edges.shape[1]))
            nodes = self.update(received / degree.clamp(min=1)[:, None], nodes)
        return nodes


class Hypernetwork(nn.Module):
    """Weights that another network computes, one set for each row."""

    def __init__(self) -> None:
        super().__init__()
        self.weights = nn.Linear(4, 8 * 6 + 6)

    def forward(self, x: Tensor, context: Tensor) -> Tensor:
        made = self.weights(context)
        product = torch.bmm(x[:, None], made[:, :48].view(-1, 8, 6))[:, 0]
        return torch.tanh(product + made[:, 48:])


class NeuralOde(nn.Module):
    def __init__(self) -> None:
        super().__init__()
        self.field = nn.Sequential(nn.Linear(4, 16), nn.Tanh(), nn.Linear(16, 4))

    def forward(self, x: Tensor) -> Tensor:
        h = 0.1
        for _ in range(5):
            k1 = self.field(x)
            k2 = self.field(x + h / 2 * k1)
            k3 = self.field(x + h / 2 * k2)
            x = x + h / 6 * (k1 + 2 * k2 + 2 * k3 + self.field(x + h * k3))
        return x


class Jacobian(nn.Module):
    """A network and its derivative, by torch.func."""

    def __init__(self) -> None:
        super().__init__()
        self.net = nn.Sequential(nn.Linear(3, 16), nn.Tanh(), nn.Linear(16, 3))

    def forward(self, x: Tensor) -> tuple[Tensor, Tensor]:
        return self.net(x), torch.func.vmap(torch.func.jacrev(self.net))(x)


class SetPooling(nn.Module):
    """Deep sets: rows that a mask leaves out count for nothing."""

    def __init__(self) -> None:
        super().__init__()
        self.each, self.all = nn.Linear(4, 16), nn.Linear(16, 3)

    def forward(self, x: Tensor, present: Tensor) -> Tensor:
        described = functional.relu(self.each(x[present > 0]))
        answer: Tensor = self.all(described.sum(0) / (present > 0).sum().clamp(min=1))
        return answer


class Kinematics(nn.Module):
    """Forward kinematics of an arm: a chain of rotations written into one tensor."""

    def __init__(self) -> None:
        super().__init__()
        self.lengths = nn.Parameter(torch.rand(6))

    def forward(self, angles: Tensor) -> Tensor:
        poses = torch.zeros(angles.shape[0], 7, 3)
        heading = torch.zeros(angles.shape[0])
        for joint in range(6):
            heading = heading + angles[:, joint]
            step = torch.stack([heading.cos(), heading.sin(), torch.zeros_like(heading)], -1)
            poses[:, joint + 1] = poses[:, joint] + self.lengths[joint] * step
        return poses


def sentence(generator: torch.Generator) -> Inputs:
    ids = torch.randint(0, 49, (2, 12), generator=generator)
    for row in ids:
        row[torch.randperm(12, generator=generator)[:4]] = 49
    return {"ids": ids, "patches": torch.randn(2, 4, 12, generator=generator)}


def sequences(width: int, longest: int, batch: int) -> Callable[[torch.Generator], Inputs]:
    def inputs(generator: torch.Generator) -> Inputs:
        lengths = torch.randint(1, longest + 1, (batch,), generator=generator)
        return {"x": torch.randn(batch, longest, width, generator=generator), "lengths": lengths}

    return inputs


def graph(generator: torch.Generator) -> Inputs:
    edges = torch.randint(0, 6, (2, 14), generator=generator)
    return {"nodes": torch.randn(6, 8, generator=generator), "edges": edges}


def a_set(generator: torch.Generator) -> Inputs:
    present = (torch.rand(9, generator=generator) > 0.4).float()
    return {"x": torch.randn(9, 4, generator=generator), "present": present}


NETWORKS: Mapping[str, Maker] = {
    "rotary in parts": lambda: Case(RotaryInParts(), numbers(x=(2, 10, 32))),
    "looped experts": lambda: Case(LoopedExperts(), numbers(x=(6, 16))),
    "grouped experts": lambda: Case(GroupedExperts(), numbers(x=(12, 16))),
    "switch experts": lambda: Case(SwitchExperts(), numbers(x=(10, 16))),
    "image tokens": lambda: Case(ImageTokens(), sentence),
    "padded encoder": lambda: Case(PaddedEncoder(), sequences(16, 7, 3)),
    "packed lstm": lambda: Case(PackedLstm(), sequences(8, 6, 3)),
    "fourier operator 1d": lambda: Case(FourierOperator(1), numbers(x=(2, 1, 32))),
    "fourier operator 2d": lambda: Case(FourierOperator(2), numbers(x=(1, 1, 16, 16))),
    "key points": lambda: Case(KeyPoints(), images(1, 1, 16, 16)),
    "thresholded points": lambda: Case(ThresholdedPoints(), images(1, 1, 16, 16)),
    "pointnet": lambda: Case(PointNet(), numbers(points=(2, 20, 3))),
    "farthest points": lambda: Case(FarthestPoints(), numbers(points=(24, 3))),
    "message passing": lambda: Case(MessagePassing(), graph),
    "hypernetwork": lambda: Case(Hypernetwork(), numbers(x=(3, 8), context=(3, 4))),
    "neural ode": lambda: Case(NeuralOde(), numbers(x=(2, 4))),
    "jacobian": lambda: Case(Jacobian(), numbers(x=(2, 3))),
    "set pooling": lambda: Case(SetPooling(), a_set),
    "kinematics": lambda: Case(Kinematics(), numbers(angles=(2, 6))),
    "embedding bag": lambda: Case(nn.EmbeddingBag(20, 8), tokens(20, 3, 5, name="input")),
}
