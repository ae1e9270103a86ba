"""A conversation as the text that is routed, and its truncation from the left.

The oldest tokens go first: what stays is the end of the conversation. A task that is stated at the
start and followed by long material is therefore lost first.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

Role = Literal["system", "user", "assistant"]


@dataclass(frozen=True, kw_only=True, slots=True)
class Message:
    """One turn."""

    role: Role
    content: str


def assemble(messages: Sequence[Message]) -> str:
    """The turns as one text; a single user turn is its own text."""
    if len(messages) == 1:
        return messages[0].content
    return "\n\n".join(f"{message.role}: {message.content}" for message in messages)


def truncate_left(tokens: Sequence[int], limit: int) -> list[int]:
    """The last ``limit`` tokens."""
    return list(tokens[-limit:]) if limit > 0 else []
