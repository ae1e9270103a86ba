"""The formula of LMCache's published KV cache calculator, for comparison.

Read in LMCache/LMCache ``docs/source/_static/kv_cache_calculator.html`` @375a749: layers x tokens
x (``kv_lora_rank`` + ``qk_rope_head_dim``) for models whose name has "DeepSeek" in it; 2 x layers
x tokens x KV heads x ``head_dim`` for names with "qwen/qwen3-"; and for all others ``hidden_size``
over ``num_attention_heads`` as head size, whatever the config says. Its "GB" are GiB. Left out:
nothing; windows, states, ranks, pages and scales are not part of it.
"""

from dataclasses import dataclass
from fractions import Fraction

ELEMENT_BYTES = {"float32": 4, "float16": 2, "bfloat16": 2, "int8": 1}


@dataclass(frozen=True, kw_only=True, slots=True)
class Asked:
    """What its list of models states of one, and the name it is asked by."""

    name: str
    hidden_size: int
    num_attention_heads: int
    num_hidden_layers: int
    num_key_value_heads: int
    head_dim: int | None = None
    kv_lora_rank: int | None = None
    qk_rope_head_dim: int | None = None

    @property
    def elements_per_token(self) -> Fraction:
        """Elements of one token over all layers; not whole where heads do not divide the width."""
        if "DeepSeek" in self.name and self.kv_lora_rank and self.qk_rope_head_dim:
            return Fraction(self.num_hidden_layers * (self.kv_lora_rank + self.qk_rope_head_dim))
        width = Fraction(self.hidden_size, self.num_attention_heads)
        if "qwen/qwen3-" in self.name.lower() and self.head_dim:
            width = Fraction(self.head_dim)
        return 2 * self.num_hidden_layers * self.num_key_value_heads * width

    def bytes_per_token(self, dtype: str) -> Fraction:
        """Bytes of one token; ``dtype`` is one of the four that it offers."""
        return self.elements_per_token * ELEMENT_BYTES[dtype]
