"""Calculators of Critical Path: pure Python, standard library only."""
