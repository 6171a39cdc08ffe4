"""A grouping as cards: one network a card, its tasks and what each is promised."""

import pandas as pd
import streamlit as st

from affinity.analysis.views import GroupsView, PredictedGain
from affinity.analysis.wording import number
from affinity.export.comparisons import predicted_gains_csv
from affinity.figures.groups import gain_bars, gain_bars_alt
from pages.ui import glossary, messages, show

MOST_TASKS = 30

GAIN_COLUMNS = {
    "Predicted gain": st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("gain")),
    "from": st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("interval")),
    "to": st.column_config.NumberColumn(format="%+.3g", help=glossary.plain("interval")),
}


def draw(view: GroupsView) -> None:
    """One card a network; a table alone where cards would be too many."""
    gains = {gain.task: gain for gain in view.gains}
    if len(view.grouping.tasks) <= MOST_TASKS:
        with st.container(horizontal=True, gap="small"):
            for number, group in enumerate(view.grouping.groups, start=1):
                with st.container(border=True, width=256):
                    st.markdown(f":material/lan: **Network {number}**")
                    for task in group.train:
                        st.markdown(_line(gains[task], served=task in group.serve))
    bars(view)


def bars(view: GroupsView) -> None:
    """Every task with its network and its predicted gain, as bars and as a table."""
    names = ["Task", "Network", "Trained with", "Predicted gain", "from", "to"]
    rows = [
        (gain.task, gain.group + 1, ", ".join(gain.mates) or "nobody", gain.value, gain.low, gain.high)
        for gain in view.gains
    ]
    show.panel(
        gain_bars(view),
        pd.DataFrame(rows, columns=names),
        alt=gain_bars_alt(view),
        key="predicted_gains",
        columns=GAIN_COLUMNS,
        csv=lambda: predicted_gains_csv(view),
    )


def _line(gain: PredictedGain, *, served: bool) -> str:
    name = messages.md(gain.task)
    if not served:
        return f"*{name}* helps here"
    if not gain.mates:
        return f"**{name}** learns alone"
    mark = ":material/trending_up:" if gain.value > 0 else ":material/trending_down:"
    sign = messages.md(number(gain.value))
    return f"**{name}** {mark} {sign}"
