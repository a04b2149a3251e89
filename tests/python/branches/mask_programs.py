# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Programs that work on the rows a mask chooses. Each takes x, float32[6,3]; x[:, 0] > 0 chooses rows."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

Program = Callable[[Tensor], Any]


def mask_of(x: Tensor) -> Tensor:
    return x[:, 0] > 0


def ids_of(x: Tensor) -> Tensor:
    return mask_of(x).nonzero(as_tuple=False).squeeze(-1)


def written(x: Tensor, ids: Any, values: Any) -> Tensor:
    y = x.clone()
    y[ids] = values
    return y


def put_number(x: Tensor) -> Tensor:
    return written(x, ids_of(x), 0.5)


def put_by_mask(x: Tensor) -> Tensor:
    return written(x, mask_of(x), -1.0)


def put_row(x: Tensor) -> Tensor:
    return written(x, ids_of(x), x[0] * 2)


def put_function_of_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, torch.tanh(x[ids]) * 2 + 1)


def put_rows_of_mask(x: Tensor) -> Tensor:
    mask = mask_of(x)
    return written(x, mask, x[mask] * 3)


def ids_and_mask(x: Tensor) -> Tensor:
    mask = mask_of(x)
    return written(x, mask, x[ids_of(x)] * 3)


def scale_in_place(x: Tensor) -> Tensor:
    y = x + 1
    y[mask_of(x)] *= 0.25
    return y


def add_in_place(x: Tensor) -> Tensor:
    y = x + 1
    y[ids_of(x)] += x[ids_of(x)].sum(dim=1, keepdim=True)
    return y


def tuple_of_columns(x: Tensor) -> Tensor:
    i, j = (x > 0.5).nonzero(as_tuple=True)
    y = x.clone()
    y[i, j] = x[i, j] ** 2
    return y


def where_of_condition(x: Tensor) -> Tensor:
    (ids,) = torch.where(mask_of(x))
    return written(x, ids, x[ids].flip(1))


def two_dimensional_mask(x: Tensor) -> Tensor:
    y = x.clone()
    y[x > 0] = torch.sqrt(x[x > 0])
    return y


def masked_select_sum(x: Tensor) -> Tensor:
    return x.masked_select(x > 0).sum() + x


def masked_scatter_back(x: Tensor) -> Tensor:
    return x.masked_scatter(x > 0, x.masked_select(x > 0) * 2)


def argwhere_columns(x: Tensor) -> Tensor:
    where = torch.argwhere(x > 0)
    y = x.clone()
    y[where[:, 0], where[:, 1]] = -x[where[:, 0], where[:, 1]]
    return y


def one_column_of_places(x: Tensor) -> Tensor:
    ids = ids_of(x)
    y = x.clone()
    y[ids, 2] = x[ids, 1]
    return y


def slice_of_places(x: Tensor) -> Tensor:
    ids = ids_of(x)
    y = x.clone()
    y[ids, 1:3] = x[ids, 0:2] + 1
    return y


def mask_of_later_dimension(x: Tensor) -> Tensor:
    mask = x[0] > 0
    y = x.clone()
    y[:, mask] = x[:, mask] * 2
    return y


def index_copy(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return x.index_copy(0, ids, x[ids].exp())


def index_add(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return x.index_add(0, ids, x[ids] * 2)


def index_fill(x: Tensor) -> Tensor:
    return x.index_fill(0, ids_of(x), 7.0)


def index_select(x: Tensor) -> Tensor:
    return x.index_select(0, ids_of(x)).square().sum(0) + x


def scatter_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return x.scatter(0, ids.unsqueeze(-1).expand(-1, 3), x[ids] - 5)


def accumulate(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return x.index_put((ids,), x[ids] * 0.5, accumulate=True)


def accumulate_elsewhere(x: Tensor) -> Tensor:
    ids = ids_of(x)
    bucket = (x[ids, 1] > 0).long()
    return torch.zeros(2, 3).index_put((bucket,), x[ids], accumulate=True) + x[:2]


def sum_of_rows(x: Tensor) -> Tensor:
    return x[ids_of(x)].sum(dim=0) + x


def mean_of_rows(x: Tensor) -> Tensor:
    return torch.nan_to_num(x[mask_of(x)].mean(dim=0), nan=-3.0) + x


def mean_of_all(x: Tensor) -> Tensor:
    return torch.nan_to_num(x[mask_of(x)].mean(), nan=-3.0) + x


def spread_of_rows(x: Tensor) -> Tensor:
    return torch.nan_to_num(x[mask_of(x)].std(dim=0), nan=-3.0) + torch.nan_to_num(x[mask_of(x)].var(), nan=-2.0) + x


def product_and_norm(x: Tensor) -> Tensor:
    rows = x[mask_of(x)]
    return rows.prod(dim=0) + torch.linalg.vector_norm(rows) + x


def any_and_all(x: Tensor) -> Tensor:
    rows = x[ids_of(x)]
    return torch.where((rows[:, 1] > 0).any(), x, -x) + (rows > -9).all().float()


def largest_of_each_row(x: Tensor) -> Tensor:
    return x[mask_of(x)].amax(dim=1).sum() + x


def largest_of_rows(x: Tensor) -> Tensor:
    always = (x[:, 0] > -9).nonzero().squeeze(-1)
    return x[always].max(dim=0).values + x[always].min() + x


def count_of_rows(x: Tensor) -> Tensor:
    return (x[ids_of(x), 0] * 0 + 1).sum() + x


def small_network(x: Tensor) -> Tensor:
    ids = ids_of(x)
    weight = torch.linspace(-1, 1, 9).reshape(3, 3)
    hidden = torch.nn.functional.elu(torch.nn.functional.linear(x[ids], weight, weight[0]))
    return written(x, ids, torch.nn.functional.layer_norm(hidden @ weight, [3]))


def softmax_and_sort(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, x[ids].softmax(-1) + x[ids].sort(dim=1).values)


def softmax_over_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, x[ids].softmax(0) + x[ids].cumsum(0))


def quaternion_like(x: Tensor) -> Tensor:
    ids = ids_of(x)
    a, b, c = x[ids].unbind(-1)
    turned = torch.stack([b * c, c - a, a + b], dim=-1)
    return written(x, ids, turned / turned.norm(dim=-1, keepdim=True).clamp(min=1e-6))


def cross_and_cat(x: Tensor) -> Tensor:
    ids = ids_of(x)
    rows = x[ids]
    wide = torch.cat([torch.cross(rows, rows.roll(1, dims=1), dim=-1), rows[:, :1]], dim=1)
    return written(x, ids, wide[:, 1:])


def made_for_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    fresh = torch.zeros(len(ids), 3)
    fresh[:, 1] = 2.0
    return written(x, ids, fresh + torch.ones(len(ids), 1))


def joined_with_made(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, torch.cat([x[ids, :2], torch.full((len(ids), 1), 0.5)], dim=-1))


def goal_for_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, x[1].expand(len(ids), 3) + x[2].repeat(len(ids), 1))


def reshaped_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, x[ids].reshape(len(ids), 3, 1).transpose(1, 2).reshape(-1, 3) * 2)


def column_written_in_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    rows = x[ids]
    rows[:, 1] = rows[:, 0] + rows[:, 2]
    return written(x, ids, rows)


def rows_clamped_by_mask(x: Tensor) -> Tensor:
    ids = ids_of(x)
    rows = x[ids]
    rows[rows < 0] = 0.0
    return written(x, ids, rows)


def mask_within_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    inner = (x[ids, 1] > 0).nonzero().squeeze(-1)
    return written(x, ids[inner], 9.0)


def rows_within_rows(x: Tensor) -> Tensor:
    mask = mask_of(x)
    rows = x[mask]
    rows[rows[:, 1] > 0] *= 2
    return written(x, mask, rows)


def integers_divided(x: Tensor) -> Tensor:
    whole = (x * 4).long()
    ids = (whole[:, 1] != 0).nonzero().squeeze(-1)
    y = whole.clone()
    y[ids, 0] = whole[ids, 0] // whole[ids, 1]
    y[ids, 2] = whole[ids, 2] % whole[ids, 1]
    return y


def table_of_classes(x: Tensor) -> Tensor:
    table = torch.linspace(0, 1, 12).reshape(4, 3)
    known = (x[:, 1] >= 0) & (x[:, 1] < 0.9)
    rows = (x[known, 1] * 4).long()
    return written(x, known, table[rows] + torch.nn.functional.embedding(rows, table))


def gathered(x: Tensor) -> Tensor:
    ids = ids_of(x)
    best = x[ids].argmax(dim=1, keepdim=True)
    return written(x, ids, x[ids].gather(1, best).expand(-1, 3))


def one_place_a_row(x: Tensor) -> Tensor:
    ids = ids_of(x)
    y = x.clone()
    y[ids, x[ids].argmax(dim=1)] = 0.0
    return y


def dot_over_rows(x: Tensor) -> Tensor:
    rows = x[mask_of(x)]
    return x @ (rows.t() @ rows)


def batch_of_matrices(x: Tensor) -> Tensor:
    ids = ids_of(x)
    turned = torch.bmm(x[ids].unsqueeze(-1) * x[ids].unsqueeze(1), x[ids].unsqueeze(-1))
    return written(x, ids, turned.squeeze(-1))


def two_masks(x: Tensor) -> Tensor:
    y = x.clone()
    y[x[:, 0] > 0] = x[x[:, 0] > 0] + 1
    y[y[:, 1] > 1] = y[y[:, 1] > 1].mean(dim=1, keepdim=True)
    return y


def ids_as_numbers(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, ids.float().unsqueeze(-1) + x[ids])


def other_table(x: Tensor) -> Tensor:
    longer = torch.linspace(0, 1, 24).reshape(8, 3)
    ids = ids_of(x)
    return written(x, ids, longer[ids])


def drawn_for_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, torch.rand_like(x[ids]) * 0 + 4)


def drawn_for_as_many_rows(x: Tensor) -> Tensor:
    ids = ids_of(x)
    return written(x, ids, (torch.rand(len(ids), 3) * 2 - 1) * 0 + x[ids])


def drawn_in_place_for_rows(x: Tensor) -> Tensor:
    """As commands are drawn for the robots that begin anew."""
    ids = ids_of(x)
    drawn = torch.empty(len(ids))
    y = x.clone()
    y[ids, 0] = drawn.uniform_(-1, 1) * 0 + 2
    y[ids, 1] = drawn.normal_(0, 1) * 0 + 3
    return y


def compared_rows(x: Tensor) -> Tensor:
    rows = x[ids_of(x)]
    return ((rows > rows.mean(dim=1, keepdim=True)) & (rows != 0)).sum() + x


class ResetsCounters:
    """A counter for each row that starts again where the mask is true."""

    def __init__(self) -> None:
        self.time = torch.zeros(6)

    def __call__(self, x: Tensor) -> Tensor:
        self.time += 0.5
        self.time[ids_of(x)] = 0.0
        return x + self.time.unsqueeze(-1)


class ResamplesCommands:
    def __init__(self) -> None:
        self.command = torch.zeros(6, 2)
        self.left = torch.full((6,), 2.0)

    def __call__(self, x: Tensor) -> Tensor:
        self.left -= 1.0
        ids = (self.left <= 0).nonzero().flatten()
        self.command[ids] = x[ids, 1:] * 2
        self.left[ids] = 2.0 + (x[ids, 0] > 0).float()
        return torch.cat([x, self.command], dim=1)


class ZeroesInPlace:
    def __init__(self) -> None:
        self.buffer = torch.ones(6, 3)

    def __call__(self, x: Tensor) -> Tensor:
        self.buffer[mask_of(x)] *= 0
        self.buffer += 0.1 * x
        return self.buffer * 2


class KeepsACopy:
    """State that is made anew in each call."""

    def __init__(self) -> None:
        self.kept = torch.zeros(6, 3)

    def __call__(self, x: Tensor) -> Tensor:
        ids = ids_of(x)
        kept = self.kept.clone()
        kept[ids] = x[ids] + torch.ones(len(ids), 3)
        self.kept = kept
        return self.kept + 1


class MeanOfChosen:
    def __init__(self) -> None:
        self.mean = torch.zeros(3)

    def __call__(self, x: Tensor) -> Tensor:
        self.mean = 0.5 * self.mean + x[mask_of(x)].sum(dim=0)
        return x - self.mean


def first_and_last_row(x: Tensor) -> Tensor:
    ids = (x[:, 0] > -9).nonzero().flatten()
    rows = x[x[:, 0] > -9]
    return x[ids[-1]] + rows[0] - rows[2] + x


def rows_to_other_places(x: Tensor) -> Tensor:
    """Each to a place of its own, which nobody but the data says."""
    mask, order = mask_of(x), x[:, 1].argsort()
    return written(x, order[mask], x[mask])


def rows_to_places_from_the_end(x: Tensor) -> Tensor:
    mask, order = mask_of(x), x[:, 1].argsort()
    return written(x, order[mask] - len(x), x[mask] * 2)


RIGHT: list[Program] = [
    put_number,
    put_by_mask,
    put_row,
    put_function_of_rows,
    put_rows_of_mask,
    ids_and_mask,
    scale_in_place,
    add_in_place,
    tuple_of_columns,
    where_of_condition,
    two_dimensional_mask,
    masked_select_sum,
    masked_scatter_back,
    argwhere_columns,
    one_column_of_places,
    slice_of_places,
    mask_of_later_dimension,
    index_copy,
    index_add,
    index_fill,
    index_select,
    scatter_rows,
    accumulate,
    first_and_last_row,
    rows_to_other_places,
    rows_to_places_from_the_end,
    accumulate_elsewhere,
    sum_of_rows,
    mean_of_rows,
    mean_of_all,
    spread_of_rows,
    product_and_norm,
    any_and_all,
    largest_of_each_row,
    largest_of_rows,
    count_of_rows,
    small_network,
    softmax_and_sort,
    softmax_over_rows,
    quaternion_like,
    cross_and_cat,
    made_for_rows,
    joined_with_made,
    goal_for_rows,
    reshaped_rows,
    column_written_in_rows,
    rows_clamped_by_mask,
    mask_within_rows,
    rows_within_rows,
    integers_divided,
    table_of_classes,
    gathered,
    one_place_a_row,
    dot_over_rows,
    batch_of_matrices,
    two_masks,
    ids_as_numbers,
    other_table,
    drawn_for_rows,
    drawn_for_as_many_rows,
    drawn_in_place_for_rows,
    compared_rows,
    ResetsCounters,
    ResamplesCommands,
    ZeroesInPlace,
    KeepsACopy,
    MeanOfChosen,
]


def sorted_rows(x: Tensor) -> Tensor:
    rows = x[mask_of(x)]  # here
    return rows.sort(dim=0).values.sum() + x


def rows_behind_others(x: Tensor) -> Tensor:
    rows = x[mask_of(x)]  # here
    return torch.cat([rows, x], dim=0).sum() + x


def every_row_with_every_row(x: Tensor) -> Tensor:
    rows = x[mask_of(x)]  # here
    return (rows[:, None] - rows[None]).abs().sum() + x


def middle_of_rows(x: Tensor) -> Tensor:
    rows = x[x[:, 0] > -9]  # here
    return rows[:, 1].median() + x


def different_numbers(x: Tensor) -> Tensor:
    values = torch.unique(x > 0)  # here
    return values.sum() + x


# No dense form: TorchScript warns with the line of "# here", ONNX refuses.
STAY: list[Program] = [
    sorted_rows,
    rows_behind_others,
    every_row_with_every_row,
    middle_of_rows,
    different_numbers,
]
