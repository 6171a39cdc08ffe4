"""A validation as CSV: a row for every budget."""

from affinity.analysis.views.validation import ValidationView
from affinity.export._csv import csv_text


def validation_csv(view: ValidationView) -> str:
    """What the prediction chose and the best there was, at every budget."""
    sense = "lower" if view.lower_is_better else "higher"
    notes = [f"true totals over the tasks, {sense} is better; prediction: {view.prediction}"]
    header = [
        "budget",
        "chosen",
        "best",
        "regret",
        "regret_share",
        "chosen_networks",
        "best_networks",
        "proven",
    ]
    return csv_text(
        header,
        (
            [
                row.budget,
                row.chosen,
                row.best,
                row.regret,
                row.share,
                " | ".join(", ".join(group) for group in row.chosen_groups),
                " | ".join(", ".join(group) for group in row.best_groups),
                str(row.proven).lower(),
            ]
            for row in view.rows
        ),
        notes=notes,
    )
