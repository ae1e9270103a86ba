"""Benchmark result files as records: text in, records out. Reads no file and knows no page."""
