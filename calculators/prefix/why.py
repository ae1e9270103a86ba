"""Why a request missed: from what two prompts share down to what an engine reuses, cap by cap.

Each cap says how many tokens are left after one rule; where the number falls, that rule is the
cause. Engines: SGLang in pages, vLLM in blocks (784 tokens in some hybrid models, vllm #54607),
LMCache in chunks of 256, whose key at the commit read (rule 48) held neither adapter nor salt nor
image. Position and history are part of a prefix: text that stands elsewhere, or behind something
that differs, is never reused, so such a copy is reported apart. Left out: approximate reuse
(CacheBlend), metrics windows, preemption.
"""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

from calculators.prefix.cache import Image, PrefixCache, Prompt, SglangCache
from calculators.prefix.identity import block_identities
from calculators.prefix.invariants import MisuseError
from calculators.prefix.keys import TOKEN_BYTES, shared_length
from calculators.prefix.limits import at_least
from calculators.prefix.vllm import VllmCache

type Engine = Literal["sglang", "vllm", "lmcache"]
type Rule = Literal["shared", "namespace", "images", "units", "last_token", "evicted"]

WINDOW = 16  # tokens of the shortest shifted copy that is looked for


@dataclass(frozen=True, kw_only=True, slots=True)
class Setup:
    """An engine and its unit: ``page_size``, ``block_size`` or ``chunk_size`` in tokens.

    ``capacity`` in tokens matters only where requests come in between.
    """

    engine: Engine
    unit: int
    capacity: int | None = None


@dataclass(frozen=True, slots=True)
class Cap:
    """Tokens that could be reused after a rule."""

    rule: Rule
    tokens: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Explanation:
    """The caps of one engine, in the order in which its rules apply.

    ``missing`` is how many more shared tokens the next whole unit needs; ``largest_unit`` is the
    largest unit with which anything at all would be reused, None if no unit would help.
    """

    setup: Setup
    caps: tuple[Cap, ...]
    missing: int
    largest_unit: int | None

    @property
    def reused(self) -> int:
        """Tokens reused in the end."""
        return self.caps[-1].tokens

    @property
    def causes(self) -> tuple[Rule, ...]:
        """The rules that took something away; ``shared`` if there was nothing to take."""
        pairs = zip(self.caps, self.caps[1:], strict=False)
        lost = tuple(after.rule for before, after in pairs if after.tokens < before.tokens)
        return lost if self.caps[0].tokens else ("shared",)


@dataclass(frozen=True, slots=True)
class Shifted:
    """``length`` equal tokens past the difference, and where they begin in each prompt.

    The two places may be the same.
    """

    earlier: int
    later: int
    length: int


def shared_tokens(earlier: Prompt, later: Prompt) -> int:
    """Leading tokens that agree; the first difference is at this place."""
    end = min(len(earlier.tokens), len(later.tokens))
    return shared_length(earlier.tokens[:end], later.tokens, 0, end, TOKEN_BYTES) // TOKEN_BYTES


def explain(
    earlier: Prompt, later: Prompt, setup: Setup, between: Sequence[Prompt] = ()
) -> Explanation:
    """Why ``later`` reuses what it does after ``earlier`` and the requests ``between``."""
    at_least("unit", setup.unit, 1)
    if not len(earlier) or not len(later):
        raise MisuseError("a prompt without a token")
    unit = setup.unit
    shared = shared_tokens(earlier, later)
    named = shared if same_namespace(earlier, later, setup) else 0
    pictured = min(named, images_agree(earlier, later)) if setup.engine != "lmcache" else named
    whole = pictured // unit * unit
    usable = min(whole, (len(later) - 1) // unit * unit)
    caps = [
        Cap("shared", shared),
        Cap("namespace", named),
        Cap("images", pictured),
        Cap("units", whole),
        Cap("last_token", usable),
    ]
    if between:
        caps.append(Cap("evicted", min(usable, after_others(earlier, later, setup, between))))
    best = min(pictured, len(later) - 1)
    return Explanation(
        setup=setup,
        caps=tuple(caps),
        missing=unit - pictured % unit,
        largest_unit=best or None,
    )


def same_namespace(earlier: Prompt, later: Prompt, setup: Setup) -> bool:
    """Whether the engine may share at all."""
    return setup.engine == "lmcache" or earlier.namespace == later.namespace


def images_agree(earlier: Prompt, later: Prompt) -> int:
    """Leading tokens before the first image that only one prompt has, or has otherwise."""
    return min(
        (image.start for image in set(earlier.images) ^ set(later.images)),
        default=max(len(earlier), len(later)),
    )


def after_others(earlier: Prompt, later: Prompt, setup: Setup, between: Sequence[Prompt]) -> int:
    """What an engine with the stated capacity still holds, found by running it."""
    longest = max(map(len, (earlier, later, *between)))
    capacity = setup.capacity or sum(map(len, (earlier, later, *between))) + setup.unit
    at_least("capacity_tokens", capacity, longest)
    cache = cache_of(setup, capacity)
    if setup.engine == "lmcache":
        earlier, later, *between = (Prompt(tokens=p.tokens) for p in (earlier, later, *between))
    for prompt in (earlier, *between):
        lease = cache.begin(prompt)
        if lease is not None:
            cache.finish(lease)
    return cache.lookup(later)


def cache_of(setup: Setup, capacity: int) -> PrefixCache:
    """The engine's cache; LMCache's chunks behave as blocks under LRU."""
    if setup.engine == "sglang":
        return SglangCache(capacity, page_size=setup.unit)
    return VllmCache(max(capacity // setup.unit, 1), block_size=setup.unit)


def shifted_copy(earlier: Prompt, later: Prompt) -> Shifted | None:
    """The first run past the difference that the earlier prompt has too, wherever it stands."""
    width = WINDOW * TOKEN_BYTES
    places: dict[bytes, int] = {}
    for at in range(0, len(earlier.tokens) - width + 1, TOKEN_BYTES):
        places.setdefault(earlier.tokens[at : at + width], at)
    for at in range(shared_tokens(earlier, later) * TOKEN_BYTES, len(later.tokens), TOKEN_BYTES):
        place = places.get(later.tokens[at : at + width])
        if place is not None:
            end = min(len(later.tokens), at + len(earlier.tokens) - place)
            length = shared_length(earlier.tokens[place:], later.tokens, at, end, TOKEN_BYTES)
            return Shifted(place // TOKEN_BYTES, at // TOKEN_BYTES, length // TOKEN_BYTES)
    return None


def shared_blocks(earlier: Prompt, later: Prompt, block_size: int) -> int:
    """Leading vLLM blocks with one identity: the oracle of the caps, images included."""
    pairs = zip(
        block_identities(earlier, block_size), block_identities(later, block_size), strict=False
    )
    count = 0
    for mine, theirs in pairs:
        if mine != theirs:
            break
        count += 1
    return count


def marked(tokens: bytes, images: Sequence[Image]) -> Prompt:
    """A prompt with images, in order of their place."""
    return Prompt(tokens=tokens, images=tuple(sorted(images, key=lambda image: image.start)))
