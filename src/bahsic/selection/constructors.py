"""A constructor that takes over the parameters of another class."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from functools import wraps
from typing import Any, TypeVar

T = TypeVar("T")


def with_parameters_of(other: type, *without: str) -> Callable[[type[T]], type[T]]:
    """Decorator of a class whose constructor also has the keyword-only parameters of another class.

    The constructor is written with ``**others`` at its end, and gets all of them there, defaults included. Its
    signature has each by its name, so that scikit-learn, ``help`` and the documentation see them.

    Parameters
    ----------
    other : type
    *without : str
        Parameters that are not taken over.

    Examples
    --------
    >>> class Cake:
    ...     def __init__(self, *, flour=500, eggs=4): ...
    >>> @with_parameters_of(Cake, "eggs")
    ... class Bread:
    ...     def __init__(self, crust, **others):
    ...         print(crust, others)
    >>> inspect.signature(Bread)
    <Signature (crust, *, flour=500)>
    >>> bread = Bread("thick")
    thick {'flour': 500}
    """

    def extended(cls: type[T]) -> type[T]:
        written: Any = getattr(cls, "__init__")  # noqa: B009 - as an attribute mypy refuses it
        signature = _joined(inspect.signature(written), inspect.signature(other), without)

        @wraps(written)
        def constructor(*arguments: Any, **named: Any) -> None:
            given = signature.bind(*arguments, **named)
            given.apply_defaults()
            written(*given.args, **given.kwargs)

        del vars(constructor)["__wrapped__"]  # its signature is the one that was written
        vars(constructor)["__signature__"] = signature
        setattr(cls, "__init__", constructor)  # noqa: B010 - as an attribute mypy refuses it
        return cls

    return extended


def _joined(own: inspect.Signature, other: inspect.Signature, without: tuple[str, ...]) -> inspect.Signature:
    parameters = [one for one in own.parameters.values() if one.kind is not one.VAR_KEYWORD]
    names = {*own.parameters, *without}
    taken = [one for one in other.parameters.values() if one.kind is one.KEYWORD_ONLY and one.name not in names]
    return own.replace(parameters=[*parameters, *taken])
