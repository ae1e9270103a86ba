"""Benchmarks: medians and ratios of one run. Nothing here is asserted; machines differ."""
