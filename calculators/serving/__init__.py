"""The serving lab: the same requests under several schedulers, in exact time.

Models: one worker (or separate prefill and decode workers with a link), iterations whose length
follows a cost model, KV blocks, preemption by recompute, queues, rejects, timeouts, a horizon.
Leaves out: tokenisation, networks between client and server, speculative decoding, pipeline
bubbles, swapping to host memory, and everything that makes two real runs differ.
"""
