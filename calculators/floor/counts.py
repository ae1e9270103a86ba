"""Exact numbers of parameters of known models, which their cache does not tell.

Counted from the shapes in each model's config.json; ``data/devices/parameter_counts.json`` holds
the shapes with their sources, and a test counts them anew. Without layers of multi-token
prediction. A model that is not here has the number that its name states, which is rounded.
"""

import re
from dataclasses import dataclass
from fractions import Fraction

from calculators.floor.vocabularies import VOCABULARIES, Vocabulary
from calculators.tiering.widths import WIDTHS

BILLION = 10**9
# ``235B-A22B``: all and active; ``17B-128E`` names the active ones first and so is no total.
SIZE = r"(\d+(?:\.\d+)?)[bB]"
NAMED = re.compile(rf"(?<![\w.]){SIZE}(?:-A{SIZE})?(?!-\d+E)(?![\w.])")


@dataclass(frozen=True, kw_only=True, slots=True)
class Count:
    """Parameters, those that one token uses, routed experts (all, per token), the vocabulary's.

    ``embedding`` is vocabulary × hidden size, which ``parameters`` hold once where ``tied``, else
    twice.
    """

    parameters: int
    active: int | None = None
    experts: int | None = None
    per_token: int | None = None
    embedding: int = 0
    tied: bool = False


LLAMA_8B = Count(parameters=8_030_261_248, embedding=128_256 * 4096)
LLAMA_70B = Count(parameters=70_553_706_496, embedding=128_256 * 8192)
DEEPSEEK_V3 = Count(
    parameters=671_026_419_200, active=37_552_297_472,
    experts=256, per_token=8, embedding=129_280 * 7168,
)  # fmt: skip
QWEN3_32B = Count(parameters=32_762_123_264, embedding=151_936 * 5120)
QWEN3_235B = Count(
    parameters=235_093_634_560, active=22_190_763_520,
    experts=128, per_token=8, embedding=151_936 * 4096,
)  # fmt: skip
COUNTS: dict[str, Count] = {
    "meta-llama/Meta-Llama-3.1-8B": LLAMA_8B,
    "meta-llama/Llama-3.1-8B-Instruct": LLAMA_8B,
    "meta-llama/Meta-Llama-3.1-70B": LLAMA_70B,
    "meta-llama/Llama-3.1-70B-Instruct": LLAMA_70B,
    "meta-llama/Meta-Llama-3.1-405B": Count(
        parameters=405_853_388_800, embedding=128_256 * 16_384
    ),
    "Qwen/Qwen3-0.6B": Count(parameters=596_049_920, embedding=151_936 * 1024, tied=True),
    "Qwen/Qwen3-8B": Count(parameters=8_190_735_360, embedding=151_936 * 4096),
    "Qwen/Qwen3-32B": QWEN3_32B,
    "Qwen/Qwen3-32B-FP8-Static-PerTensor": QWEN3_32B,
    "Qwen/Qwen3-30B-A3B": Count(
        parameters=30_532_122_624, active=3_353_032_704,
        experts=128, per_token=8, embedding=151_936 * 2048,
    ),
    "Qwen/Qwen3-235B-A22B": QWEN3_235B,
    "Qwen/Qwen3-235B-A22B-FP8": QWEN3_235B,
    "nvidia/Qwen3-235B-A22B-NVFP4": QWEN3_235B,
    "mistralai/Mixtral-8x7B-v0.1": Count(
        parameters=46_702_792_704, active=12_879_925_248,
        experts=8, per_token=2, embedding=32_000 * 4096,
    ),
    "deepseek-ai/DeepSeek-V3": DEEPSEEK_V3,
    "deepseek-ai/DeepSeek-R1": DEEPSEEK_V3,
    "moonshotai/Kimi-K2-Instruct": Count(
        parameters=1_026_408_232_448, active=32_861_500_928,
        experts=384, per_token=8, embedding=163_840 * 7168,
    ),
    "openai/gpt-oss-20b": Count(
        parameters=20_914_757_184, active=4_187_440_704,
        experts=32, per_token=4, embedding=201_088 * 2880,
    ),
    "openai/gpt-oss-120b": Count(
        parameters=116_829_156_672, active=5_711_982_912,
        experts=128, per_token=4, embedding=201_088 * 2880,
    ),
}  # fmt: skip


def known(model: str) -> Count | None:
    """The exact count of a model, else what its name states; None where neither is there."""
    return COUNTS.get(model) or named(model)


def named(model: str) -> Count | None:
    """What a model's name states: ``Qwen3.5-397B-A17B`` is 397·10⁹, of them 17·10⁹ active.

    Where it is not known whether input and output share a table, they do not: the bound is then
    too low, never too high.
    """
    found = NAMED.search(model)
    if found is None:
        return None
    words, (hidden, _) = VOCABULARIES.get(model, Vocabulary(0)), WIDTHS.get(model, (0, 0))
    every, active = found.groups()
    return Count(
        parameters=int(Fraction(every) * BILLION),
        active=None if active is None else int(Fraction(active) * BILLION),
        experts=words.experts,
        per_token=words.per_token,
        embedding=words.words * hidden,
    )
