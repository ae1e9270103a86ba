"""The tiering lab: fetch the KV of a prefix, compute it again, or hand it to another worker.

Models bytes exactly and times from bandwidth, latency and FLOP. Leaves out who else uses a link
(but see the trace), the cost of writing beside serving, and everything that a measurement shows
and a data sheet does not: put your own rates in.
"""
