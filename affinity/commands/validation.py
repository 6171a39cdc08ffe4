"""The command that asks a published table whether pairs predict groups: validate."""

from collections.abc import Sequence

from affinity.analysis.truth_table import read_truth_table
from affinity.analysis.validation import validation_view
from affinity.analysis.views.validation import ValidationView
from affinity.analysis.wording import interval, number
from affinity.commands.shared import Answer, Options, read_text, table
from affinity.core.errors import SettingsError
from affinity.grouping import RankAgreement


def validate_command(options: Options) -> Answer:
    """Predicted against best grouping, per budget."""
    given = read_truth_table(
        read_text(options.table),
        options.table,
        sense=options.sense,
        part=options.part,
        test=read_text(options.test) if options.test else None,
        masks=read_text(options.masks) if options.masks else None,
    )
    view = validation_view(given, prediction=options.prediction, budgets=_budgets(options.budgets))
    return _json(view), _text(view)


def _budgets(text: str | None) -> tuple[float, ...] | None:
    if text is None:
        return None
    try:
        return tuple(float(part) for part in text.split(",") if part.strip())
    except ValueError as error:
        raise SettingsError(f"'{text}' is not a list of numbers.", "validate --budgets") from error


def _json(view: ValidationView) -> dict[str, object]:
    return {
        "tasks": view.tasks,
        "networks": view.networks,
        "part": view.part or None,
        "parts": view.parts,
        "prediction": view.prediction,
        "predictions": view.predictions,
        "sense": "lower" if view.lower_is_better else "higher",
        "unit": view.unit,
        "spearman": view.over_tasks.spearman,
        "kendall": view.over_tasks.kendall,
        "over_tasks": view.over_tasks,
        "over_networks": view.over_networks,
        "sizes": [{"size": size, **_rank(found)} for size, found in view.sizes],
        "budgets": view.rows,
        "sentence": view.sentence,
        "caveats": view.caveats,
    }


def _rank(found: RankAgreement) -> dict[str, float]:
    return {"spearman": found.spearman, "kendall": found.kendall, "compared": found.compared}


def _text(view: ValidationView) -> str:
    head = ("budget", "chosen", "best", "regret", "of the best", "networks the prediction chooses")
    rows = [
        (
            f"{row.budget:g}",
            f"{row.chosen:.5g}",
            f"{row.best:.5g}",
            f"{row.regret:.3g}",
            f"{100 * row.share:.2g} %",
            _listed(row.chosen_groups),
        )
        for row in view.rows
    ]
    ranks = [
        ("ranks over", "Spearman", "95 % interval", "Kendall", "95 % interval"),
        ("tasks in networks", *_ranks(view.over_tasks)),
        ("networks", *_ranks(view.over_networks)),
    ]
    return "\n".join([view.sentence, "", table([head, *rows]), "", table(ranks), "", *view.caveats])


def _ranks(found: RankAgreement) -> tuple[str, str, str, str]:
    return (
        number(found.spearman),
        interval(found.spearman_low, found.spearman_high),
        number(found.kendall),
        interval(found.kendall_low, found.kendall_high),
    )


def _listed(groups: Sequence[Sequence[str]]) -> str:
    return " | ".join(", ".join(group) for group in groups)
