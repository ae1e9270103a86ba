"""Vocabulary and routed experts of known models, which their cache does not tell.

The rows of ``data/devices/parameter_counts.json``, where the source stands; a test compares the
two. Hidden sizes stand in ``tiering.widths``.
"""

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Vocabulary:
    """Words, and of a mixture of experts how many there are in a layer and a token uses.

    ``per_token`` is None where the config's name for it was not read.
    """

    words: int
    experts: int | None = None
    per_token: int | None = None


VOCABULARIES: dict[str, Vocabulary] = {
    "01-ai/Yi-34B": Vocabulary(64_000),
    "codellama/CodeLlama-34b-Instruct-hf": Vocabulary(32_000),
    "deepseek-ai/DeepSeek-R1": Vocabulary(129_280, 256, 8),
    "deepseek-ai/DeepSeek-V2-Lite": Vocabulary(102_400, 64, 6),
    "deepseek-ai/DeepSeek-V3": Vocabulary(129_280, 256, 8),
    "deepseek-ai/DeepSeek-V3.2": Vocabulary(129_280, 256, 8),
    "google/gemma-4-26B-A4B": Vocabulary(262_144, 128),
    "meta-llama/Llama-3.1-70B-Instruct": Vocabulary(128_256),
    "meta-llama/Llama-3.1-8B-Instruct": Vocabulary(128_256),
    "meta-llama/Llama-4-Maverick-17B-128E-Instruct": Vocabulary(202_048, 128, 1),
    "meta-llama/Llama-4-Scout-17B-16E-Instruct": Vocabulary(202_048, 16, 1),
    "meta-llama/Meta-Llama-3.1-405B": Vocabulary(128_256),
    "meta-llama/Meta-Llama-3.1-70B": Vocabulary(128_256),
    "meta-llama/Meta-Llama-3.1-8B": Vocabulary(128_256),
    "microsoft/Phi-mini-MoE-instruct": Vocabulary(32_064, 16, 2),
    "MiniMaxAI/MiniMax-M2.5": Vocabulary(200_064, 256, 8),
    "MiniMaxAI/MiniMax-M3": Vocabulary(200_064, 128, 4),
    "mistralai/Mistral-Nemo-Instruct-2407": Vocabulary(131_072),
    "mistralai/Mixtral-8x22B-v0.1": Vocabulary(32_000, 8, 2),
    "mistralai/Mixtral-8x7B-v0.1": Vocabulary(32_000, 8, 2),
    "moonshotai/Kimi-K2-Instruct": Vocabulary(163_840, 384, 8),
    "moonshotai/Kimi-K2.5": Vocabulary(163_840, 384, 8),
    "moonshotai/Kimi-K3": Vocabulary(163_840, 896),
    "nvidia/DeepSeek-V3.2-NVFP4": Vocabulary(129_280, 256, 8),
    "nvidia/Gemma-4-26B-A4B-NVFP4": Vocabulary(262_144, 128),
    "nvidia/Gemma-4-31B-IT-NVFP4": Vocabulary(262_144),
    "nvidia/GLM-5-NVFP4": Vocabulary(154_880, 256, 8),
    "nvidia/GLM-5.1-NVFP4": Vocabulary(154_880, 256, 8),
    "nvidia/Kimi-K2.6-NVFP4": Vocabulary(163_840, 384, 8),
    "nvidia/Kimi-K2.7-Code-NVFP4": Vocabulary(163_840, 384, 8),
    "nvidia/Llama-3_3-Nemotron-Super-49B-v1": Vocabulary(128_256),
    "nvidia/MiniMax-M2.5-NVFP4": Vocabulary(200_064, 256, 8),
    "nvidia/MiniMax-M3-NVFP4": Vocabulary(200_064, 128, 4),
    "nvidia/Nemotron-H-56B-Base-8K": Vocabulary(131_072),
    "nvidia/NVIDIA-Nemotron-3-Nano-30B-A3B-BF16": Vocabulary(131_072, 128, 6),
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-FP8": Vocabulary(131_072, 512, 22),
    "nvidia/NVIDIA-Nemotron-3-Super-120B-A12B-NVFP4": Vocabulary(131_072, 512, 22),
    "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-FP8": Vocabulary(131_072, 512, 22),
    "nvidia/NVIDIA-Nemotron-3-Ultra-550B-A55B-NVFP4": Vocabulary(131_072, 512, 22),
    "nvidia/Qwen3-235B-A22B-NVFP4": Vocabulary(151_936, 128, 8),
    "nvidia/Qwen3.5-397B-A17B-NVFP4": Vocabulary(248_320, 512, 10),
    "nvidia/Qwen3.6-27B-NVFP4": Vocabulary(248_320),
    "openai/gpt-oss-120b": Vocabulary(201_088, 128, 4),
    "openai/gpt-oss-20b": Vocabulary(201_088, 32, 4),
    "Qwen/Qwen2.5-7B-Instruct": Vocabulary(152_064),
    "Qwen/Qwen3-0.6B": Vocabulary(151_936),
    "Qwen/Qwen3-235B-A22B": Vocabulary(151_936, 128, 8),
    "Qwen/Qwen3-235B-A22B-FP8": Vocabulary(151_936, 128, 8),
    "Qwen/Qwen3-30B-A3B": Vocabulary(151_936, 128, 8),
    "Qwen/Qwen3-32B": Vocabulary(151_936),
    "Qwen/Qwen3-32B-FP8-Static-PerTensor": Vocabulary(151_936),
    "Qwen/Qwen3-8B": Vocabulary(151_936),
    "Qwen/Qwen3-VL-235B-A22B-Instruct": Vocabulary(151_936, 128, 8),
    "Qwen/Qwen3-VL-2B-Instruct": Vocabulary(151_936),
    "Qwen/Qwen3-VL-32B-Instruct": Vocabulary(151_936),
    "Qwen/Qwen3-VL-32B-Thinking": Vocabulary(151_936),
    "Qwen/Qwen3-VL-8B-Instruct": Vocabulary(151_936),
    "Qwen/Qwen3.5-122B-A10B": Vocabulary(248_320, 256, 8),
    "Qwen/Qwen3.5-27B": Vocabulary(248_320),
    "Qwen/Qwen3.5-35B-A3B": Vocabulary(248_320, 256, 8),
    "Qwen/Qwen3.5-397B-A17B": Vocabulary(248_320, 512, 10),
    "stepfun-ai/Step-3.7-Flash-FP8": Vocabulary(128_896, 288, 8),
    "XiaomiMiMo/MiMo-V2-Flash": Vocabulary(152_576, 256, 8),
    "zai-org/GLM-5-FP8": Vocabulary(154_880, 256, 8),
    "zai-org/GLM-5.1-FP8": Vocabulary(154_880, 256, 8),
    "zai-org/GLM-5.2": Vocabulary(154_880, 256, 8),
    "zai-org/GLM-5.2-FP8": Vocabulary(154_880, 256, 8),
}
