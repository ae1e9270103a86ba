"""Sweeps of the serving lab over load, policy, chunk size, P/D split and seeds."""
