"""The least that a step, a first token and an output token can take: a roofline on paper, exact.

A model and a lower bound, never a measurement: bytes that must be read over the memory bandwidth,
FLOP that must be done over the peak rate, and the larger of the two.
"""
