"""Time a router's decisions and write every sample with its conditions as JSON.

``python3 scripts/bench_decide.py --pool data/pools/coderouterbench.yaml --checkpoint DIR
--device cpu --out router-latency.cpu.json``. Each prompt length runs in a process of its own, so
that its first call is the first of a process. Checkpoint load, encoder initialisation, encode +
scores and the whole decision are timed apart. No provider is called. ``DIR`` is a local Hugging
Face directory, ``all-minilm-l6-v2`` (packaged, the default) or ``random:qwen3-0.6b`` (timing only).
"""

import argparse
import json
import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable
from datetime import UTC, datetime
from importlib.metadata import version
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[1]
sys.path[:0] = [] if str(ROOT) in sys.path else [str(ROOT)]

from calculators.form.errors import ParameterError  # noqa: E402 -- needs the path above
from scripts.machine import machine, processor  # noqa: E402

LIMIT_NAME = "ENTHALPY_ROUTER_MAX_TOKENS"
LIMIT_DEFAULT = 1024
PACKAGES = ("onnxruntime", "onnx", "numpy", "tokenizers")


def parser() -> argparse.ArgumentParser:
    """The command line."""
    found = argparse.ArgumentParser(description=__doc__)
    found.add_argument("--pool", type=Path, required=True)
    found.add_argument("--checkpoint", default="all-minilm-l6-v2")
    found.add_argument("--device", default="cpu")
    found.add_argument("--out", type=Path, required=True)
    found.add_argument("--iterations", type=int, default=25)
    found.add_argument("--warmups", type=int, default=5)
    found.add_argument("--prompt-tokens", default="15,256,1024")
    found.add_argument("--threads", type=int, default=os.cpu_count() or 1)
    found.add_argument("--child", type=int, help=argparse.SUPPRESS)
    return found


def limit() -> int:
    """The truncation ceiling from the environment."""
    text = os.environ.get(LIMIT_NAME, str(LIMIT_DEFAULT))
    if not text.isdecimal() or int(text) < 1:
        raise ParameterError(LIMIT_NAME, "not_a_number", text=text)
    return int(text)


def timed[T](work: Callable[[], T]) -> tuple[float, T]:
    """Milliseconds of one call, and its result."""
    begin = time.perf_counter_ns()
    result = work()
    return (time.perf_counter_ns() - begin) / 1e6, result


def child(given: argparse.Namespace, tokens: int) -> dict[str, Any]:
    """One prompt length in a fresh process: load, start, first call, warm calls."""
    from scripts.router import checkpoint, engine, pool, prompts  # noqa: PLC0415 -- fresh process
    from scripts.router.conversation import Message  # noqa: PLC0415
    from scripts.router.decide import Router  # noqa: PLC0415

    candidates = pool.load(given.pool)
    load_ms, loaded = timed(lambda: checkpoint.load(given.checkpoint))
    start_ms, running = timed(
        lambda: engine.start(loaded, device=given.device, max_tokens=limit(), threads=given.threads)
    )
    router = Router(pool=candidates, engine=running)
    text = prompts.of_tokens(loaded.tokenizer.encode, tokens)
    messages = [Message(role="user", content=text)]
    cold_ms, decision = timed(lambda: router.decide(messages))
    shared = {
        "prompt_tokens": tokens,
        "characters": len(text),
        "encoded_tokens": len(running.tokens(text)),
    }
    decide = series(lambda: router.decide(messages), given, f"decide {tokens}")
    score = series(lambda: router.score(text), given, f"encode+scores {tokens}")
    return {
        "runs": [
            {"boundary": "router_decide", **shared, "cold_ms": cold_ms, "warm_ms": decide},
            {"boundary": "encode_scores", **shared, "warm_ms": score},
        ],
        "one_off_ms": {"checkpoint_load": load_ms, "encoder_init": start_ms},
        "device": running.device,
        "weights": loaded.weights,
        "sha256": loaded.sha256,
        "tokenizer": loaded.tokenizer.name,
        "limit": running.limit,
        "pool": {
            "name": candidates.name,
            "sha256": candidates.sha256,
            "candidates": len(candidates.candidates),
            "example": candidates.example,
        },
        "first_choice": decision.ranking[0].candidate.id if decision.ranking else None,
    }


def series(work: Callable[[], object], given: argparse.Namespace, name: str) -> list[float]:
    """Warm calls after the warm-ups, with a progress bar on the error stream."""
    for _ in range(given.warmups):
        work()
    samples = []
    for done in range(given.iterations):
        samples.append(timed(work)[0])
        bar(name, done + 1, given.iterations)
    return samples


def bar(name: str, done: int, total: int) -> None:
    """One line that fills up, for eyes only: silent where the error stream is no terminal."""
    if not sys.stderr.isatty():
        return
    filled = 30 * done // total
    print(
        f"\r{name:24} [{'#' * filled}{'.' * (30 - filled)}] {done}/{total}",
        end="\n" if done == total else "",
        file=sys.stderr,
        flush=True,
    )


def spawn(arguments: list[str], tokens: int) -> dict[str, Any]:
    """The answer of one child process. Raises ParameterError with what it said last."""
    command = [sys.executable, __file__, *arguments, "--child", str(tokens)]
    done = subprocess.run(command, stdout=subprocess.PIPE, check=False, cwd=Path.cwd())
    if done.returncode:
        raise ParameterError("prompt_tokens", "run_failed", tokens=tokens, status=done.returncode)
    answer: dict[str, Any] = json.loads(done.stdout)
    return answer


def report(given: argparse.Namespace, arguments: list[str]) -> dict[str, Any]:
    """All prompt lengths with the conditions that they share."""
    lengths = [int(part) for part in given.prompt_tokens.split(",")]
    answers = [spawn(arguments, tokens) for tokens in lengths]
    first = answers[0]
    return {
        "schema": "critical-path/router-latency",
        "version": 1,
        "command": " ".join(["python3", "scripts/bench_decide.py", *shown(arguments)]),
        "date": datetime.now(tz=UTC).isoformat(timespec="seconds"),
        "machine": machine(),
        "software": software(),
        "device": {
            "asked": given.device,
            "used": first["device"],
            "name": processor(),
            "threads": given.threads,
        },
        "dtype": "float32",
        "checkpoint": {
            "model": given.checkpoint if ":" in given.checkpoint else Path(given.checkpoint).name,
            "weights": first["weights"],
            "sha256": first["sha256"],
            "tokenizer": first["tokenizer"],
            "encoded_tokens_at_most": first["limit"],
        },
        "pool": first["pool"],
        "router_max_tokens": limit(),
        "iterations": given.iterations,
        "warmups": given.warmups,
        "cold": ["process", "engine buffers and kernels", "candidate descriptors"],
        "load": {
            "loop": "closed",
            "rate_asked_per_s": None,
            "rate_achieved_per_s": None,
            "client_queueing_counted": None,
        },
        "one_off_ms": first["one_off_ms"],
        "runs": [run for answer in answers for run in answer["runs"]],
    }


def shown(arguments: list[str]) -> list[str]:
    """The arguments with directories shortened to their last part."""
    return [
        Path(part).name if "/" in part and Path(part).is_absolute() else part for part in arguments
    ]


def software() -> dict[str, str]:
    """Versions of Python and of the engine's packages."""
    return {"python": platform.python_version(), **{name: version(name) for name in PACKAGES}}


def main(arguments: list[str]) -> int:
    """Run all lengths, or one as a child; a mistake is one sentence."""
    given = parser().parse_args(arguments)
    try:
        if given.child is not None:
            print(json.dumps(child(given, given.child)))
            return 0
        body = json.dumps(report(given, arguments), indent=1, allow_nan=False)
        given.out.write_text(body + "\n", encoding="utf-8")
    except (ParameterError, OSError) as error:
        print(error, file=sys.stderr)
        return 2
    print(f"wrote {given.out}")
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
