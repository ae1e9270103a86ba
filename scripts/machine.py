"""The machine on which something is timed, as the system describes it."""

import os
import platform
from pathlib import Path
from typing import Any


def machine() -> dict[str, Any]:
    """What the system says of itself, without its name."""
    return {
        "system": platform.system(),
        "release": platform.release(),
        "architecture": platform.machine(),
        "cpus": os.cpu_count(),
    }


def processor() -> str:
    """The processor's name."""
    info = Path("/proc/cpuinfo")
    lines = info.read_text(encoding="utf-8").splitlines() if info.exists() else []
    names = [line.partition(":")[2].strip() for line in lines if line.startswith("model name")]
    return names[0] if names else platform.processor()
