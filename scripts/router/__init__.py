"""A small, complete router whose decisions are timed: it selects a model and calls none."""
