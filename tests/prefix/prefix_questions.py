"""Questions to the four forms of the prefix lab: every part of an answer, every refusal.

Pairs of a calculator's name and values, for the list of questions that build, CPython and Pyodide
answer alike.
"""

from calculators.prefix.block_script import SHIPPED_BLOCKS
from calculators.prefix.scenario import SHIPPED

LONG = "9" * 80
SMALL = {"groups": "6", "turns": "3", "shared": "40", "sweep_points": "2"}
ROW = '{"input_length": 600, "hash_ids": [1, 2], "timestamp": 0}'
LATER = '{"input_length": 900, "hash_ids": [1, 3], "timestamp": 40}'
TRACE = f"{ROW}\n{LATER}\n"
SALTED = '{"tokens": [1, 2, 3], "salt": "a"}\n{"tokens": [1, 2, 4], "salt": "b", "timestamp": 9}'

NUMBERS = ["", "x", "1.5", "0", LONG, "９", "9999999999999"]
BAD_TRACES = [
    "",
    "\n \n",
    '{"hash',
    "[1]",
    '{"input_length": 9}',
    '{"input_length": -1, "hash_ids": [1]}',
    '{"input_length": 9, "hash_ids": [-1]}',
    '{"input_length": 900, "hash_ids": [1, 1]}',
    '{"input_length": 900, "hash_ids": [1, 2, 3]}',
    '{"tokens": []}',
    "TIMESTAMP,ContextTokens,GeneratedTokens\n0,1,2",
    f"{ROW}\n[1]",
    '{"tokens": [1, 99999999999]}',
    '{"tokens": 7}',
    '{"tokens": [1], "timestamp": "soon"}',
]

REPLAY = [
    {},
    SMALL,
    SMALL | {"capacity_tokens": "100"},
    SMALL | {"policy": "slru", "warmup_percent": "50"},
    SMALL | {"policy": "tlru", "threshold": "900"},
    SMALL | {"kind": "tenants", "salt": "1", "engine": "vllm", "capacity_tokens": "4000"},
    SMALL | {"kind": "agents", "engine": "vllm"},
    SMALL | {"kind": "documents", "page_size": "16"},
    {"source": "own", "trace": TRACE, "page_size": "2"},
    {"source": "own", "trace": SALTED, "sweep_points": "0"},
    {"source": "own", "trace": '{"prompt": "a b c"}\n{"prompt": "a b d"}'},
    {"source": "own", "trace": "a b c\na b d", "tokenisation": "bytes"},
    {"source": "own", "trace": TRACE, "form": "bailian"},
    {"source": "own", "trace": TRACE, "form": "mooncake", "engine": "vllm"},
]
REPLAY_REFUSED = [
    *({"groups": text} for text in NUMBERS),
    *({"source": "own", "trace": text} for text in BAD_TRACES),
    {"source": "own", "trace": TRACE, "capacity_tokens": "5"},
    {"source": "own", "trace": TRACE, "form": "text", "tokenisation": "none"},
    {"source": "nowhere"},
    {"salt": "maybe"},
    {"groups": "5000", "turns": "100"},
    {"policy": "tlru", "threshold": "5", "next_prompt_estimate": "512"},
    {"no_such_field": "1"},
]
ROUTING = [
    {"groups": "6", "turns": "3"},
    {"groups": "9", "kind": "agents", "prefill_tokens_per_s": "500", "absolute": "1"},
    {"source": "own", "trace": TRACE},
]
ROUTING_REFUSED = [
    *({"instances": text} for text in NUMBERS),
    *({"beta": text} for text in ("", "x", "-1", "1e9", LONG, "１")),
    *({"source": "own", "trace": text} for text in BAD_TRACES),
    {"source": "own", "trace": "a b\na c"},
    {"source": "own", "trace": "a\n" * 100_001},
    {"source": "own", "trace": TRACE, "capacity_tokens": "5"},
    {"kind": "none"},
    {"salt": "maybe"},
    {"groups": "5000", "turns": "100"},
    {"no_such_field": "1"},
]
ONE_BLOCK = {"num_gpu_blocks": "1", "block_size": "4"}
LARGE_POOL = {"num_gpu_blocks": "60", "block_size": "1"}
FIFTY_NINE = " ".join(map(str, range(59)))
STEPS = [
    {},
    *({"scenario": name} for name in SHIPPED),
    {"scenario": "own", "operations": "insert a b\ninsert a b\nevict 9\nmatch a"},
    {"scenario": "own", "operations": "insert a b priority=2 # first\ninsert a c @red\nevict 1"},
    {"scenario": "own", "operations": "\n".join(f"insert {i} x" for i in range(70))},
    {"scenario": "two_tenants", "policy": "tlru", "page_size": "2"},
    *({"script": name} for name in SHIPPED_BLOCKS),
    {"script": "documented", "unhashed_blocks": "head"},
    {"script": "tail_goes_first", "num_gpu_blocks": "5", "block_size": "8"},
    {"requests": "\n".join(f"start r{i} a" for i in range(61)), "num_gpu_blocks": "60"},
    {"requests": "start r a b\nappend r c d e\nstart s x\nappend s y\nfinish s", **ONE_BLOCK},
    {"requests": f"start r {FIFTY_NINE}\nfinish r\nstart s x {FIFTY_NINE}"} | LARGE_POOL,
]
STEPS_REFUSED = [
    *({"page_size": text} for text in NUMBERS),
    *(
        {"scenario": "own", "operations": text}
        for text in (
            "",
            "remove a",
            "insert @x",
            "evict many",
            "unlock",
            "unlock r",
            "lock r a\nlock r a",
            "insert " + "a " * 65,
            "insert a\n" * 101,
            "x" * 20_001,
        )
    ),
    *(
        {"requests": text}
        for text in (
            "# nothing",
            "insert a",
            "start r",
            "finish",
            "finish r",
            "append r a",
            "start r a\nstart r a",
            "match " + "a " * 65,
            "match a\n" * 101,
        )
    ),
    *({"num_gpu_blocks": text} for text in NUMBERS),
    {"scenario": "none"},
    {"script": "none"},
    {"policy": "tlru", "threshold": "1", "next_prompt_estimate": "5"},
    {"no_such_field": "1"},
]
WHY = [
    {},
    {"later_salt": "s", "earlier_adapter": "a"},
    {"later_images": "cat@2+3", "earlier_images": "cat@2+3, dog@9+1"},
    {"between": "a b c\nd e f", "capacity_tokens": "90"},
    {"earlier": "a b c d", "later": "a b e", "between": "x y z u v", "capacity_tokens": "9"},
    {"earlier": "a b", "later": "a b c", "block_size": "1", "chunk_size": "1"},
    {"earlier": "a b c", "later": "a b c", "page_size": "5", "block_size": "5", "chunk_size": "1"},
    {"earlier": "x y", "later": "a b"},
    {"earlier": "a", "later": "a"},
    {"reading": "token_ids", "earlier": "[1, 2, 3]", "later": "[1, 2, 3, 4]"},
    {"reading": "characters", "earlier": "缓存命中", "later": "缓存未命中"},
    {"reading": "bytes", "earlier": "缓存", "later": "缓冲"},
    {
        "reading": "token_ids",
        "earlier": " ".join(map(str, range(40))),
        "later": " ".join(map(str, [99, *range(40)])),
    },
]
WHY_REFUSED = [
    *({"block_size": text} for text in NUMBERS),
    {"earlier": " "},
    {"later_images": "cat"},
    {"later_images": "cat@x+1"},
    {"reading": "token_ids"},
    {"reading": "token_ids", "earlier": "1", "later": "99999999999"},
    {"reading": "token_ids", "earlier": "1", "later": "-1"},
    {"reading": "token_ids", "earlier": "1", "later": LONG},
    {"reading": "token_ids", "earlier": "1", "later": "２"},
    {"reading": "runes"},
    {"between": "a", "capacity_tokens": "3"},
    {"later_salt": "s" * 201},
    {"no_such_field": "1"},
]
PAIRS = [
    *(("prefix-replay", values) for values in REPLAY + REPLAY_REFUSED),
    *(("prefix-routing", values) for values in ROUTING + ROUTING_REFUSED),
    *(("prefix-steps", values) for values in STEPS + STEPS_REFUSED),
    *(("prefix-why", values) for values in WHY + WHY_REFUSED),
]
