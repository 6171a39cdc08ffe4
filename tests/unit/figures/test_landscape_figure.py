"""The landscape under methods' ways: what is drawn, up to which step, and what cannot be drawn."""

import numpy as np

from affinity.analysis.try_method import try_methods
from affinity.figures.landscape import OUTCOME_SYMBOLS, landscape, loss_space


def test_every_method_has_a_line_of_its_own_and_ends_marked_by_outcome():
    view = try_methods("chain", ["mgda", "rp_mgda"])
    figure = landscape(view)
    lines = [
        trace for trace in figure.data if getattr(trace, "mode", "") == "lines" and trace.showlegend is None
    ]
    assert [line.name for line in lines] == ["MGDA", "RP-MGDA"]
    assert len({line.line.dash for line in lines}) == 2
    ends = [trace for trace in figure.data if getattr(trace, "mode", "") == "markers"]
    assert list(ends[0].marker.symbol) == [OUTCOME_SYMBOLS[end.outcome] for end in view.ends[:5]]
    assert {"x", "star"} <= set(ends[0].marker.symbol)


def test_ways_end_at_the_step_that_is_shown():
    view = try_methods("chain", ["joint"], steps=20)
    line = next(trace for trace in landscape(view, shown=3).data if trace.name == "Joint sum")
    # three places and a gap for each of five starts
    assert len(line.x) == 4 * 5
    assert line.x[3] is None
    assert line.x[2] == view.ways[0].theta[2, 0, 1]


def test_what_left_all_bounds_is_a_gap():
    view = try_methods("quartic_bowls", ["joint"], lr=5.0, steps=20)
    assert not np.isfinite(view.ways[0].theta).all()
    for figure in (landscape(view), loss_space(view)):
        line = next(trace for trace in figure.data if trace.name == "Joint sum")
        assert None in line.x
        figure.to_json()
