"""Services of the reading half: `(run, choice) -> frozen view object` with numbers, sentences and caveats.

- `affinity`: `signal_choices(run)`, `recorded_steps(run, signal)`, `affinity_matrix(run, signal, *, reduce,
  first, last, split)`, `matrix_at(run, signal, step, *, split)`, `affinity_view(run, signal, *, ...)`,
  `pair_curve(run, signal, *, source, affected, ...)`, `rank_agreement(run, signal_a, signal_b, *, ...)`.
- `conflicts`: `conflicts_view(run, *, first, last)`, `hurt_tasks(run, weigh, *, first, last)`.
- `groups`: `suggest(run_or_matrix, groups, *, ...)`, `predicted_gains(matrix, grouping)`,
  `groups_view(matrix, grouping, *, planted)`, `budget_curve(matrix, *, ...)`.
- `grouping_edits`: `move`, `split`, `merge`, `add_helper`, `remove_helper`, `serve_from`.
- `compare`: `compare_view(run)`; `compare_runs`: `compare_runs(runs)`.
- `overview`: `overview(run)`.

Wherever a run is asked for, `affinity_matrix` and `affinity_view` also take several runs that differ only in
their seed. Importing this package loads neither torch nor scipy.
"""
