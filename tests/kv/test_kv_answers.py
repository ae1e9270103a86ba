"""Generated configs, logs and field texts end in an answer or in one sentence.

``KV_EXAMPLES=25000`` runs as many of each of the four kinds: a hundred thousand, in slices.
"""

import json
import os

from hypothesis import given, settings
from hypothesis import strategies as st

from calculators.form.fields import Choice, Text, kinds
from calculators.registry import find
from calculators.web import answer
from tests.questions import LLAMA
from tests.questions_kv import EVERY, GEMMA, HYBRID, LOGS

EXAMPLES = int(os.environ.get("KV_EXAMPLES", "100"))
KEYS = sorted(
    {
        *LLAMA, "head_dim", "sliding_window", "layer_types", "kv_lora_rank", "qk_rope_head_dim",
        "num_kv_shared_layers", "text_config", "quantization_config", "use_sliding_window",
        "max_window_layers", "full_attention_interval", "linear_num_value_heads", "attn_config",
        "hybrid_override_pattern", "index_head_dim", "num_nextn_predict_layers", "block_configs",
        "per_layer_config", "is_encoder_decoder", "attention_chunk_size", "mamba_d_state",
    }
)  # fmt: skip
SCALARS = st.one_of(
    st.none(), st.booleans(), st.integers(-2, 5000), st.floats(), st.text(max_size=8),
    st.sampled_from(["bfloat16", "M*-M", "full_attention", 10**30, 1e300]),
)  # fmt: skip
VALUES = st.recursive(
    SCALARS,
    lambda inner: st.lists(inner, max_size=6) | st.dictionaries(st.sampled_from(KEYS), inner),
    max_leaves=8,
)
CHANGES = st.dictionaries(st.sampled_from(KEYS), VALUES, max_size=5)
WORDS = st.one_of(
    st.text(max_size=12),
    st.integers(-5, 10**13).map(str),
    st.decimals(allow_nan=False, allow_infinity=False).map(str),
    st.sampled_from(["1e9", "0.5", "8192", "8192x3, 5", GEMMA, HYBRID, EVERY, "none", "full:1x1"]),
)
PIECES = st.sampled_from([line for text in LOGS.values() for line in text.splitlines()])


def checked(calculator, values):
    """The reply; a failure inside a calculator is ours and no sentence for a reader."""
    reply = json.loads(
        answer(json.dumps({"calculator": calculator, "lang": "en", "values": values}))
    )
    assert "our mistake" not in reply.get("error", {}).get("text", "")
    assert ("error" in reply) != ("html" in reply)


def form_values(name):
    """Texts for some fields of a form; choices mostly among their options."""
    fields = kinds(find(name).params)
    texts = {
        field: st.sampled_from(kind.options) if isinstance(kind, Choice) else WORDS
        for field, kind in fields.items()
        if not isinstance(kind, Text) or field == "stack"
    }
    return st.lists(st.sampled_from(sorted(texts)), max_size=6, unique=True).flatmap(
        lambda chosen: st.fixed_dictionaries({field: texts[field] for field in chosen})
    )


@settings(max_examples=EXAMPLES, deadline=None)
@given(CHANGES)
def test_configs(changes):
    """Whatever a config states."""
    text = json.dumps(LLAMA | changes)

    checked("kv", {"source": "config", "config": text})


@settings(max_examples=EXAMPLES, deadline=None)
@given(form_values("kv-engine"))
def test_engine_fields(values):
    """Whatever the engine form holds."""
    checked("kv-engine", values)


@settings(max_examples=EXAMPLES, deadline=None)
@given(form_values("kv-lengths"), st.one_of(WORDS, st.lists(WORDS).map("\n".join)))
def test_lengths_fields(values, trace):
    """Whatever the lengths form holds."""
    checked("kv-lengths", {"trace": trace, **values})


@settings(max_examples=EXAMPLES, deadline=None)
@given(
    st.lists(st.one_of(PIECES, st.text(max_size=30)), max_size=8), form_values("kv-log"), st.data()
)
def test_logs(lines, values, data):
    """Lines of several engines mixed, with their numbers changed."""
    text = "\n".join(lines)
    for digit in data.draw(st.lists(st.sampled_from("0123456789"), max_size=3)):
        text = text.replace(digit, data.draw(st.sampled_from(["9", "0", "99999999999", "", "."])))

    checked("kv-log", {"log": text, **values})
