"""Checks of parameters that many functions take: counts, fractions, numbers of threads, ridges, random states."""

from __future__ import annotations

import math
from collections.abc import Collection
from numbers import Integral, Real
from typing import Any, NamedTuple, Self

import numpy as np
from sklearn.utils import check_random_state

from bahsic.options import RIDGES


class Given(NamedTuple):
    """A parameter in a message, with a value that it may be set to; the command has options instead."""

    name: str
    value: Any = None

    def __str__(self) -> str:
        return self.name if self.value is None else f"{self.name}={self.value!r}"


class Aside(str):
    """Words of a message on parameters that only Python has."""

    __slots__ = ()


class Message(str):  # noqa: SLOT000 - it carries its parts
    """Text of an error or a warning that knows its parts: text, parameters as `Given`, and `Aside`."""

    parts: tuple[str | Given, ...]

    def __new__(cls, *parts: str | Given) -> Self:
        """Join the parts."""
        message = super().__new__(cls, "".join(map(str, parts)))
        message.parts = parts
        return message

    def __add__(self, other: str) -> Message:
        return Message(*self.parts, other)


RandomStateLike = int | np.random.RandomState | np.random.Generator | None


def is_auto(value: Any) -> bool:
    """Whether the value of a parameter is "auto"."""
    return isinstance(value, str) and value == "auto"


def is_count(value: Any, at_least: int = 1) -> bool:
    """Whether a value is an int of at least ``at_least``."""
    return isinstance(value, Integral) and not isinstance(value, bool) and int(value) >= at_least


def is_fraction(value: Any) -> bool:
    """Whether a value is a float in (0, 1]."""
    return isinstance(value, Real) and not isinstance(value, Integral) and 0 < float(value) <= 1


def is_number(value: object) -> bool:
    """Whether a value is a finite real number; booleans are not."""
    return isinstance(value, Real) and not isinstance(value, bool) and math.isfinite(value)


def check_parameter(argument: str, value: object, valid: bool, accepted: str) -> None:
    """Raise a ValueError that names the parameter, its value and what is accepted, unless valid."""
    if not valid:
        raise ValueError(f"{argument} is {value!r}; accepted: {accepted}")


def check_positive(argument: str, value: Any) -> None:
    """Raise unless a value is a positive finite number."""
    check_parameter(argument, value, is_number(value) and value > 0, "a positive finite number")


def check_count(argument: str, count: Any, at_least: int = 1) -> None:
    """Raise unless a count is an int of at least ``at_least``."""
    check_parameter(argument, count, is_count(count, at_least), f"an int of at least {at_least}")


def check_choice(argument: str, value: Any, choices: Collection[str]) -> None:
    """Raise unless a value is one of the choices."""
    check_parameter(argument, value, value in choices, ", ".join(map(repr, choices)))


def check_jobs(n_jobs: Any) -> None:
    """Raise unless ``n_jobs`` is None or an int other than zero."""
    valid = n_jobs is None or (isinstance(n_jobs, Integral) and n_jobs != 0)
    check_parameter("n_jobs", n_jobs, valid, "None or an int other than 0")


def check_ridge(ridge: Any) -> None:
    """Raise unless a ridge is "auto" or a number in range: outside of it rounding decides, or nothing is explained."""
    low, high = RIDGES
    valid = is_auto(ridge) or (is_number(ridge) and low <= ridge <= high)
    check_parameter("ridge", ridge, valid, f"'auto' or a number from {low:g} to {high:g}")


def random_source(random_state: RandomStateLike) -> np.random.RandomState:
    """Return the source of random numbers for a ``random_state``."""
    if isinstance(random_state, np.random.Generator):
        return np.random.RandomState(random_state.bit_generator)
    try:
        source: np.random.RandomState = check_random_state(random_state)
    except ValueError:
        raise ValueError(
            f"random_state is {random_state!r}; accepted: an int of 0 to 2**32 - 1, a RandomState, a Generator or None"
        ) from None
    return source
