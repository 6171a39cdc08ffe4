"""The answer before any chart: who helps whom most, who hurts whom most, how sure, and what to do next."""

from affinity.analysis.affinity import affinity_view
from affinity.analysis.pair_words import pair_figures
from affinity.analysis.signals import signal_choices
from affinity.analysis.views import AffinityView, Overview, PairRow
from affinity.analysis.wording import percent, plural
from affinity.core.errors import NotEnoughData
from affinity.runs.reader import Run


def overview(run: Run) -> Overview:
    """One or two sentences and a next step for any run, however little it recorded."""
    choices = signal_choices(run)
    if run.info.kind == "rerun":
        return Overview(
            sentences=("This run retrained a grouping.",),
            next_step="Open Compare to see what each task gained.",
        )
    if not choices:
        return Overview(
            sentences=("This run recorded nothing that says who helps whom.",),
            next_step=_what_to_record(run),
        )
    try:
        view = affinity_view(run, choices[0].key, split=choices[0].splits[0])
    except NotEnoughData as problem:
        return Overview(
            sentences=(problem.what.capitalize(),), next_step=problem.hint or "", choice=choices[0]
        )
    return _answer(run, view)


def _answer(run: Run, view: AffinityView) -> Overview:
    known = [row for row in view.rows if row.verdict != "missing"]
    helps = next((row for row in known if row.verdict == "helps"), None)
    hurting = [row for row in known if row.verdict == "hurts"]
    hurts = min(hurting, key=lambda row: row.high) if hurting else None
    said = [_said(helps, "helps"), _said(hurts, "hurts")]
    if not known:
        said = ["No pair of different tasks has a value yet."]
    elif helps is None and hurts is None:
        said = [f"None of {plural(len(known), 'pair')} can be told from zero yet."]
    return Overview(
        sentences=tuple(sentence for sentence in said if sentence),
        next_step=_next_step(run, helps, hurts, len(known)),
        choice=view.choice,
        view=view,
        helps=helps,
        hurts=hurts,
        caveats=view.caveats,
    )


def _said(row: PairRow | None, verb: str) -> str:
    if row is None:
        return f"No task {verb} another one for sure."
    sure = (
        f"the sign is {percent(row.sign_confidence)} sure"
        if row.sign_confidence < 0.9995
        else "the sign is sure"
    )
    return f"A step on {row.source} {verb} {row.affected} most surely: {pair_figures(row)}; {sure}."


def _next_step(run: Run, helps: PairRow | None, hurts: PairRow | None, known: int) -> str:
    if run.status.live:
        return "Wait for the training to finish, or look on while it runs."
    if not known or len(run.tasks) < 2:
        return "Train at least two tasks together."
    if helps is None and hurts is None:
        return "Record more steps: train longer, or record the probes more often."
    if hurts is not None:
        return "Open Groups to find which tasks to train apart, then retrain them to see the real gain."
    return "No task hurts another for sure: open Groups to check whether one network for all is best."


def _what_to_record(run: Run) -> str:
    if "losses" in run.signals:
        return "The losses alone are too few; train with the probes lookahead_losses or gram, or log them."
    return (
        "Log the tasks' losses at every step, and lookahead_losses or gram at every tenth, with the Recorder."
    )
