"""The smallest sizes that make sense, refused as a form refuses its fields."""

from calculators.form.errors import ParameterError

LARGEST = 10**12


def at_least(field: str, value: int, minimum: int) -> None:
    """Raise ParameterError for a value below its minimum."""
    if value < minimum:
        raise ParameterError(field, "too_small", text=str(value), minimum=minimum, maximum=LARGEST)
