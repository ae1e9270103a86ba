"""Run a case file against the calculators: ``python -m scripts.truth FILE...``."""
