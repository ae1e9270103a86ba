"""The calculators by name. Each is imported when it is first asked for, to start quickly."""

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from calculators.form.errors import ParameterError, excerpt
from calculators.show.blocks import Result
from calculators.show.progress import Progress

__all__ = ["MODULES", "Calculator", "Progress", "find"]

MODULES = {
    "kv": "calculators.kv.workbench",
    "kv-engine": "calculators.kv.engine_lab",
    "kv-log": "calculators.kv.log_lab",
    "kv-lengths": "calculators.kv.lengths_lab",
    "kv-compare": "calculators.kv.comparison",
    "samples": "calculators.latency.samples",
    "result-file": "calculators.measurements.result_file",
    "compare": "calculators.measurements.comparison",
    "prefix-why": "calculators.prefix.lab_why",
    "prefix-steps": "calculators.prefix.lab_steps",
    "prefix-replay": "calculators.prefix.lab_replay",
    "prefix-routing": "calculators.prefix.lab_routing",
    "tiering": "calculators.tiering.workbench",
    "tiering-trace": "calculators.tiering.trace_workbench",
    "tiering-transfer": "calculators.tiering.transfer_workbench",
    "serving": "calculators.serving.workbench",
    "serving-load": "calculators.serving.load_workbench",
    "floor": "calculators.floor.workbench",
}


@dataclass(frozen=True, slots=True)
class Calculator:
    """A name, its parameters and the function from parameters to an answer."""

    name: str
    params: type
    solve: Callable[[Any, Progress], Result]


def find(name: str) -> Calculator:
    """The calculator of a name; ParameterError for a name that is none."""
    if name not in MODULES:
        options = ", ".join(MODULES)
        raise ParameterError(
            "calculator", "unknown_calculator", text=excerpt(name), options=options
        )
    module = importlib.import_module(MODULES[name])
    return Calculator(name, module.Params, module.solve)
