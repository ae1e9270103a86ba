"""Statistics of latency samples: quantiles by rule, exact intervals, comparison of two samples."""
