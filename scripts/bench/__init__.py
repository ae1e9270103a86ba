"""Benches, one module an area: each yields figures of one run of this machine."""
