"""Validation: mean loss and one metric a task, larger is better."""

from dataclasses import dataclass

import numpy as np
import torch
from torch import Tensor

from affinity.core.types import FloatArray
from affinity.training.batches import Tensors
from affinity.training.losses import TaskLosses
from affinity.training.network import MultiTaskNetwork

ROWS = 4096


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Evaluation:
    """(N,) mean validation loss and metric of every task; NaN = no labelled validation sample."""

    loss: FloatArray
    metric: FloatArray


def evaluate(network: MultiTaskNetwork, losses: TaskLosses, data: Tensors) -> Evaluation:
    """Evaluate on the validation part, in evaluation mode; the mode is put back.

    The metric is accuracy for classes and R² = 1 - residual / total sum of squares for regression.
    """
    was_training = network.training
    network.eval()
    with torch.no_grad():
        inputs, targets = data.rows(data.validation)
        outputs = torch.cat([network(part) for part in inputs.split(ROWS)]).double()
        wanted = targets.double()
        loss = losses(outputs, wanted).cpu().numpy()
        metric = np.array([_metric(losses, index, outputs, wanted) for index in range(len(losses.tasks))])
    network.train(was_training)
    return Evaluation(loss=loss, metric=metric)


def _metric(losses: TaskLosses, index: int, outputs: Tensor, targets: Tensor) -> float:
    task, start = losses.tasks[index], losses.starts[index]
    labelled = ~targets[:, index].isnan()
    if not bool(labelled.any()):
        return float("nan")
    answer = outputs[labelled, start : start + task.outputs]
    wanted = targets[labelled, index]
    if task.kind == "multiclass":
        return float((answer.argmax(dim=1) == wanted).double().mean())
    if task.kind == "binary":
        return float(((answer[:, 0] > 0) == (wanted > 0.5)).double().mean())
    total = (wanted - wanted.mean()).square().sum()
    return float(1 - (answer[:, 0] - wanted).square().sum() / total) if total > 0 else float("nan")
