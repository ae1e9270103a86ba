"""Prefix caches: SGLang's radix tree, vLLM's block cache, replays, why a request missed."""
