"""How long work tells that it goes on."""

from collections.abc import Callable

type Progress = Callable[[float], None]
"""Told now and then how much of the work is done, from 0 to 1."""
