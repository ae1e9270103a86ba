"""Every architecture that ``transformers`` knows, with its default configuration."""

import json
import logging

import pytest

from calculators.form.errors import ParameterError
from calculators.kv.config import read_config
from calculators.kv.notation import from_text, to_text

transformers = pytest.importorskip("transformers", reason="transformers is not installed")
REASONS = {
    "no_decoder", "missing_key", "layer_kind", "state_shape", "does_not_divide",
}  # fmt: skip


def architectures():
    """Names of all configuration classes."""
    from transformers.models.auto.configuration_auto import (  # noqa: PLC0415
        CONFIG_MAPPING_NAMES,
    )

    return sorted(CONFIG_MAPPING_NAMES)


@pytest.mark.slow
@pytest.mark.parametrize("name", architectures())
def test_default_configuration(name):
    """It ends in layers that their own text gives back, or in a reason that names what is amiss."""
    logging.disable(logging.WARNING)
    try:
        config = transformers.AutoConfig.for_model(name)
    except Exception as error:  # noqa: BLE001 - a default that its own class refuses
        pytest.skip(f"has no default configuration: {error}")
    text = json.dumps(json.loads(config.to_json_string(use_diff=False)))
    try:
        reading = read_config(text)
    except ParameterError as error:
        assert error.reason in REASONS  # noqa: PT017
        assert error.limits  # noqa: PT017
    else:
        assert from_text("layers", to_text(reading.stack)) == reading.stack
