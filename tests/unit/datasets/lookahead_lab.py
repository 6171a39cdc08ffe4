"""Joint training and lookahead affinity in a few lines, to judge data without the product's own trainer.

A trunk of two hidden layers, one linear head a task, plain SGD on the sum of the losses. The affinity of
source on affected is 1 - loss after / loss before, after a step of the trunk alone along source's gradient,
on the same batch, averaged over every tenth step.
"""

from dataclasses import dataclass

import numpy as np
import torch
from torch import nn
from torch.nn import functional

WIDTH, BATCH, RATE, EVERY = 64, 128, 0.1, 10


@dataclass
class Outcome:
    affinity: np.ndarray  # (N, N) [source, affected]
    cosine: np.ndarray  # (N, N) of shared gradients, averaged over the same steps
    validation: np.ndarray  # (N,) losses


class Lab:
    def __init__(self, arrays, *, seed):
        torch.manual_seed(seed)
        self.arrays, self.rng = arrays, np.random.default_rng(seed)
        self.inputs = torch.tensor(arrays.inputs).flatten(1)
        self.labels = [torch.tensor(arrays.targets[task.name]).float() for task in arrays.tasks]
        layers = [nn.Linear(self.inputs.shape[1], WIDTH), nn.ReLU(), nn.Linear(WIDTH, WIDTH), nn.ReLU()]
        self.trunk = nn.Sequential(*layers)
        self.heads = nn.ModuleList([nn.Linear(WIDTH, task.outputs) for task in arrays.tasks])

    def losses(self, indices):
        rows = torch.tensor(indices)
        features = self.trunk(self.inputs[rows])
        losses = []
        for task, head, labels in zip(self.arrays.tasks, self.heads, self.labels, strict=True):
            output = head(features)[:, 0]
            name = "mse_loss" if task.kind == "regression" else "binary_cross_entropy_with_logits"
            losses.append(getattr(functional, name)(output, labels[rows]))
        return torch.stack(losses)

    def lookahead(self, rows):
        shared = list(self.trunk.parameters())
        before = self.losses(rows)
        gradients = [torch.autograd.grad(loss, shared, retain_graph=True) for loss in before]
        flat = functional.normalize(torch.stack([torch.cat([g.flatten() for g in one]) for one in gradients]))
        after = []
        with torch.no_grad():
            start = [parameter.clone() for parameter in shared]
            for one in gradients:
                for parameter, kept, gradient in zip(shared, start, one, strict=True):
                    parameter.copy_(kept - RATE * gradient)
                after.append(self.losses(rows))
            for parameter, kept in zip(shared, start, strict=True):
                parameter.copy_(kept)
        return (1 - torch.stack(after) / before.detach()).numpy(), (flat @ flat.T).numpy()

    def train(self, steps, *, probe=True):
        optimizer = torch.optim.SGD([*self.trunk.parameters(), *self.heads.parameters()], lr=RATE)
        probed = []
        for step in range(steps):
            rows = self.rng.choice(self.arrays.train, BATCH, replace=False)
            if probe and step % EVERY == 0:
                probed.append(self.lookahead(rows))
            optimizer.zero_grad()
            self.losses(rows).sum().backward()
            optimizer.step()
        with torch.no_grad():
            validation = self.losses(self.arrays.validation).numpy()
        if not probed:
            return Outcome(np.array(0), np.array(0), validation)
        return Outcome(*(np.mean(values, axis=0) for values in zip(*probed, strict=True)), validation)


def partitions(count, limit):
    """Every way to put `count` items into at most `limit` groups."""
    grown = [[[0]]]
    for item in range(1, count):
        step = []
        for groups in grown:
            step += [[*groups[:at], [*group, item], *groups[at + 1 :]] for at, group in enumerate(groups)]
            if len(groups) < limit:
                step.append([*groups, [item]])
        grown = step
    return grown


def score(affinity, groups):
    """Mean over tasks of the mean affinity from the group mates; a task alone scores 0."""
    total = 0.0
    for group in groups:
        if len(group) > 1:
            block = affinity[np.ix_(group, group)]
            total += (block.sum() - np.trace(block)) / (len(group) - 1)
    return total / len(affinity)


def best_two(affinity, limit):
    """The best partition by trying all, and the scores of the best and of the runner-up."""
    ranked = sorted(((score(affinity, p), p) for p in partitions(len(affinity), limit)), reverse=True)
    return ranked[0][1], ranked[0][0], ranked[1][0]


def blocks(arrays):
    """Masks of the pairs within a planted group, without the diagonal, and between groups."""
    group = {name: at for at, names in enumerate(arrays.planted) for name in names}
    of = np.array([group[task.name] for task in arrays.tasks])
    same = of[:, None] == of[None, :]
    return same & ~np.eye(len(of), dtype=bool), ~same
