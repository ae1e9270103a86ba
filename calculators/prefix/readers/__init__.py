"""Readers of traces: text in, a Trace out, and an error that names the row."""
