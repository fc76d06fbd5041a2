"""Interface: the base of Behavior, Controller, Plant, Solver and Device, which say what their objects have."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

from poise.errors import PoiseError


class Interface(ABC):  # noqa: B024  abstract methods are in the subclasses
    """Base of the classes that users extend. A subclass declares every member, with units and default values.

    Abstract methods and attributes that are annotated without a value are required; all other members have a default.
    Objects of classes that do not inherit are adapted once, at construction, with `of`: no loop tests which members an
    object has.

    >>> Plant.required()
    ('advance', 'apply', 'robot', 'state')
    """

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Names of all members, sorted."""
        known = {name for base in cls.__mro__ for name in (*vars(base), *_annotated(base))}
        return tuple(sorted(name for name in known - set(dir(Interface)) if not name.startswith("_")))

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """Names of the members without a default, sorted."""
        bare = {name for base in cls.__mro__ for name in _annotated(base) if name not in dir(cls)}
        return tuple(sorted(bare | cls.__abstractmethods__))

    @classmethod
    def of(cls, given: Any) -> Self:
        """The object itself if it inherits from this class; else an adapter with its members and our defaults.

        Raises:
            PoiseError: a required member is missing; the message names it.
        """
        kind, required = type(given).__name__, cls.required()
        for name in required:
            if not hasattr(given, name):
                needs = ", ".join(required)
                raise PoiseError(f"{kind} has no '{name}'; expected a {cls.__name__}, which needs {needs}")
        return given if isinstance(given, cls) else cls._adapter(given)()

    @classmethod
    def _adapter(cls, given: Any) -> type[Self]:
        """A subclass with the name of the object's class that forwards to the members which the object has."""
        own = {name: _member(given, name) for name in cls.members() if hasattr(given, name)}
        return type(type(given).__name__, (cls,), own) if own else cls


def _annotated(base: type) -> dict[str, Any]:
    """Annotations of one class, without those of its bases."""
    found: dict[str, Any] = vars(base).get("__annotations__", {})
    return found


def _member(given: Any, name: str) -> property:
    return property(lambda _: getattr(given, name))
