"""View objects in, plotly figures out; beside every figure a function that says in words what it shows.

- `heatmap`: `affinity_heatmap`, `matrix_heatmap`.
- `shares`: `share_heatmap`.
- `timeline`: `pair_curves`.
- `network`: `task_graph`.
- `conflicts`: `conflict_timeline`, `magnitude_timeline`, `conflict_heatmap`, `cosine_distribution`.
- `conflict_bars`: `worst_pairs`, `layer_bars`, `hurt_bars`.
- `groups`: `gain_bars`, `budget_line`.
- `compare`: `real_gain_bars`, `prediction_scatter`, `run_bars`.

Figures are deterministic, have transparent backgrounds and leave text colours to the reader's theme.
"""
