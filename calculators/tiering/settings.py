"""What one would set in LMCache, SGLang HiCache and vLLM's offloading connector.

Names, meaning and defaults as read in: LMCache ``lmcache/v1/config.py`` at 000620e; SGLang
``docs/advanced_features/hicache_best_practices.md`` at 0712681 and ``hicache_design.md`` at
2232873; vLLM ``vllm/config/cache.py`` at 002f10e and ``vllm/v1/kv_offload/cpu/spec.py`` at
0072b0b. Sizes: LMCache's are GiB per worker (``storage_backend/local_cpu_backend.py`` at 000620e
and ``local_disk_backend.py`` at 005121a multiply by 1024**3, whatever the documentation calls
it), HiCache's GB per rank (``mem_cache/pool_host/base.py`` at 049f8e6 multiplies by 1e9), vLLM's
GiB over all ranks.
"""

from dataclasses import dataclass

from calculators.show.blocks import Code

GB = 10**9
GIB = 2**30
LMCACHE_SOURCE = "LMCache/LMCache lmcache/v1/config.py @000620e"
SGLANG_SOURCE = (
    "sgl-project/sglang docs/advanced_features/hicache_best_practices.md @0712681,\n"
    "# hicache_design.md @2232873"
)
VLLM_SOURCE = (
    "vllm-project/vllm vllm/config/cache.py @002f10e,\n# vllm/v1/kv_offload/cpu/spec.py @0072b0b"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What the answer says about tiers. Sizes in bytes over all ranks; 0 is no such tier."""

    host_bytes: int
    disk_bytes: int
    remote: bool
    ranks: int
    chunk_tokens: int
    page_tokens: int
    least_tokens: int
    save_unfull_chunk: bool
    write: str = "write_through"
    prefetch: str = "wait_complete"


def lmcache(choice: Choice) -> Code:
    """The YAML that LMCACHE_CONFIG_FILE names. Sizes are per worker, in GiB."""
    lines = [
        f"# {LMCACHE_SOURCE}; LMCACHE_CONFIG_FILE=lmcache.yaml",
        f"chunk_size: {choice.chunk_tokens}            # tokens; default 256",
        f"local_cpu: {flag(choice.host_bytes > 0)}",
    ]
    if choice.host_bytes:
        lines.append(
            f"max_local_cpu_size: {share(choice.host_bytes, choice.ranks, GIB)}  "
            "# GiB for each worker; default 5"
        )
    if choice.disk_bytes:
        lines += [
            'local_disk: "file:///PATH/"',
            f"max_local_disk_size: {share(choice.disk_bytes, choice.ranks, GIB)}  # GiB a worker",
        ]
    if choice.remote:
        lines.append('remote_url: "SCHEME://HOST:PORT"')
    lines += [
        f"min_retrieve_tokens: {choice.least_tokens}     # a shorter hit is not loaded; default 0",
        f"save_unfull_chunk: {flag(choice.save_unfull_chunk)}   # the partial chunk; default false",
    ]
    return Code(id="lmcache", text="\n".join(lines), language="yaml")


def hicache(choice: Choice) -> Code:
    """Flags of ``sglang.launch_server``. ``--hicache-size`` is GB per rank."""
    lines = [
        f"# {SGLANG_SOURCE}",
        "python3 -m sglang.launch_server --model-path MODEL \\",
        f"  --tp {choice.ranks} --page-size {choice.page_tokens} \\",
        "  --enable-hierarchical-cache \\",
        f"  --hicache-size {max(1, choice.host_bytes // choice.ranks // GB)} \\",
        f"  --hicache-write-policy {choice.write}",
    ]
    if choice.disk_bytes or choice.remote:
        extra = f'{{"prefetch_threshold": {max(choice.least_tokens, 1)}}}'
        lines[-1] += " \\"
        lines += [
            f"  --hicache-storage-backend {'mooncake' if choice.remote else 'file'} \\",
            f"  --hicache-storage-prefetch-policy {choice.prefetch} \\",
            f"  --hicache-storage-backend-extra-config '{extra}'",
        ]
    return Code(id="hicache", text="\n".join(lines), language="bash")


def offloading(choice: Choice) -> Code:
    """Offloading by vLLM itself, GiB over all ranks; selective is a ``store_threshold`` of 2."""
    threshold = 2 if choice.write == "write_through_selective" else 0
    size = choice.host_bytes // GIB * GIB
    extra = f'{{"cpu_bytes_to_use":{size},"store_threshold":{threshold},"eviction_policy":"lru"}}'
    config = (
        '{"kv_connector":"OffloadingConnector","kv_role":"kv_both",'
        f'"kv_connector_extra_config":{extra}}}'
    )
    lines = [
        f"# {VLLM_SOURCE}",
        f"vllm serve MODEL --tensor-parallel-size {choice.ranks} \\",
        f"  --kv-offloading-size {max(1, choice.host_bytes // GIB)} --kv-offloading-backend native",
        "# or with the connector's own options:",
        f"vllm serve MODEL --tensor-parallel-size {choice.ranks} \\",
        f"  --kv-transfer-config '{config}'",
    ]
    return Code(id="offloading", text="\n".join(lines), language="bash")


def share(size: int, ranks: int, unit: int) -> str:
    """One rank's part in a unit, with one decimal, rounded down."""
    tenths = size * 10 // (ranks * unit)
    return f"{tenths // 10}.{tenths % 10}"


def flag(on: bool) -> str:  # noqa: FBT001 - a value to print
    """As YAML writes it."""
    return "true" if on else "false"
