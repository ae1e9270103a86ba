"""The options of a scheduler, under the names that the engines use."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Literal

from calculators.form.errors import ParameterError
from calculators.serving.limits import LARGEST, within
from calculators.serving.request import Request, Time

type PolicyName = Literal[
    "static", "orca", "prefill_first", "chunked", "v1", "sglang", "prefill_worker", "decode_worker"
]

SHORT_NAMES = {  # data within drawings and plots, the same in every language
    "static": "Static",
    "orca": "Orca",
    "prefill_first": "vLLM v0",
    "chunked": "Sarathi",
    "v1": "vLLM v1",
    "sglang": "SGLang",
    "pd": "P/D",
}
BUDGETED = ("chunked", "v1")


@dataclass(frozen=True, kw_only=True, slots=True)
class Settings:
    """Options of one worker. None means no limit.

    ``token_budget`` is vLLM v1's max_num_batched_tokens and Sarathi's chunk size;
    ``max_num_batched_tokens`` is the prompt limit of the prefill-first policy. Without
    ``num_blocks`` memory is unlimited. ``watermark_blocks`` must stay free after an admission
    (0 in the cases). A worker without ``shows_tokens`` computes prompts and shows nothing: its
    first token comes from the decode side. ``scheduling`` "priority" reorders the waiting queue
    and the victims of v1. From ``max_prefill_tokens`` on: options of the sglang policy alone
    (sgl-project/sglang@00550cd schedule_policy.py).
    """

    policy: PolicyName
    max_num_seqs: int | None = None
    token_budget: int | None = None
    max_num_batched_tokens: int | None = None
    long_prefill_token_threshold: int = 0
    block_size: int = 1
    num_blocks: int | None = None
    watermark_blocks: int = 0
    max_queue: int | None = None
    prefix_cache: bool = False
    scheduling: Literal["fcfs", "priority"] = "fcfs"
    horizon: Time | None = None
    shows_tokens: bool = True
    max_prefill_tokens: int = 16_384
    chunked_prefill_size: int | None = None
    enable_mixed_chunk: bool = False
    schedule_policy: Literal["fcfs", "lpm"] = "lpm"
    new_token_ratio: Fraction = Fraction(7, 10)
    min_new_token_ratio: Fraction = Fraction(98, 1000)
    new_token_ratio_steps: int = 600

    def __post_init__(self) -> None:
        """Refuse what no engine could run. Raises ParameterError."""
        if self.policy in BUDGETED and self.token_budget is None:
            raise ParameterError("token_budget", "empty", minimum=1, maximum=LARGEST)
        for least, names in ((1, POSITIVE), (0, NOT_NEGATIVE)):
            for name in names:
                value = getattr(self, name)
                if value is not None:
                    within(name, value, least)
        if self.num_blocks is not None:
            within("watermark_blocks", self.watermark_blocks, 0, self.num_blocks - 1)

    def reject_reason(self, request: Request, waiting: int) -> str | None:
        """Why a request is refused at arrival, or None. The order of the tests is part of it."""
        if self.num_blocks is not None:
            blocks = -(-request.kv_positions // self.block_size)
            if blocks > self.num_blocks - self.watermark_blocks:
                return "unservable"
        limit = self.max_num_batched_tokens
        if self.policy == "prefill_first" and limit is not None and request.prompt > limit:
            return "prompt_too_long"
        if self.max_queue is not None and waiting >= self.max_queue:
            return "queue_full"
        return None


POSITIVE = (
    "max_num_seqs",
    "token_budget",
    "max_num_batched_tokens",
    "block_size",
    "num_blocks",
    "max_prefill_tokens",
    "chunked_prefill_size",
    "new_token_ratio_steps",
)
NOT_NEGATIVE = ("long_prefill_token_threshold", "watermark_blocks", "max_queue", "horizon")
