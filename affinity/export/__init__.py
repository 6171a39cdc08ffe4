"""View objects out of the program: JSON as it is, CSV with text cells that no spreadsheet runs as a formula.

- `matrices`: `matrix_json`, `matrix_csv`, `pairs_csv`.
- `comparisons`: `gains_csv`, `runs_csv`, `predicted_gains_csv`.
- `statistics`: `conflict_pairs_csv`, `conflict_steps_csv`.
"""
