"""Base class of the interfaces that users implement: Behavior, Controller, Plant, Solver and Device."""

from __future__ import annotations

from abc import ABC
from typing import Any, Self

from poise.errors import PoiseError


class Interface(ABC):  # noqa: B024  abstract methods are in the subclasses
    """Base class of interfaces. A subclass declares every member of the interface, with units and default values.

    Abstract methods, and attributes that are annotated without a value, are required; all other members have a default.
    Objects of other classes are wrapped once, with `adapt`, when a controller or run is built, so that no loop has to
    test which members an object has.

    >>> Plant.required()
    ('advance', 'apply', 'robot', 'state')
    """

    @classmethod
    def members(cls) -> tuple[str, ...]:
        """Return the names of all members, sorted."""
        names = {name for base in cls.__mro__ for name in (*vars(base), *_annotations(base))}
        return tuple(sorted(name for name in names - set(dir(Interface)) if not name.startswith("_")))

    @classmethod
    def required(cls) -> tuple[str, ...]:
        """Return the names of the members without a default, sorted."""
        undefined = {name for base in cls.__mro__ for name in _annotations(base) if name not in dir(cls)}
        return tuple(sorted(undefined | cls.__abstractmethods__))

    @classmethod
    def adapt(cls, candidate: Any) -> Self:
        """Return the object itself if it inherits from this class, else an adapter with its members and the defaults.

        Raises:
            PoiseError: a required member is missing; the message names it.
        """
        kind, required = type(candidate).__name__, cls.required()
        for name in required:
            if not hasattr(candidate, name):
                needs = ", ".join(required)
                raise PoiseError(f"{kind} has no '{name}'; expected a {cls.__name__}, which needs {needs}")
        return candidate if isinstance(candidate, cls) else cls._adapter(candidate)()

    @classmethod
    def _adapter(cls, candidate: Any) -> type[Self]:
        """Return a subclass, named like the class of the object, that forwards to the members of the object."""
        forwarded = {name: _forwarding_property(candidate, name) for name in cls.members() if hasattr(candidate, name)}
        return type(type(candidate).__name__, (cls,), forwarded) if forwarded else cls


def _annotations(base: type) -> dict[str, Any]:
    """Return the annotations of one class, without those of its bases."""
    annotations: dict[str, Any] = vars(base).get("__annotations__", {})
    return annotations


def _forwarding_property(candidate: Any, name: str) -> property:
    return property(lambda _: getattr(candidate, name))
