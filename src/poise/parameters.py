"""Declarations of settings: dataclass fields with a unit, a range and a description.

>>> @dataclass(frozen=True)
... class Settings:
...     gain: float = parameter(4.0, "rate at which the error decays", unit="1/s", above=0.0, high=100.0)
>>> parameters(Settings)["gain"].parse("2.5")
2.5

Each parameter is declared once; command line, campaigns, studio and documentation read the declaration.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping
from dataclasses import Field, dataclass, field, fields, is_dataclass, replace
from functools import cache
from types import MappingProxyType
from typing import Any, ClassVar, Literal, TypeVar

from poise import parsing
from poise.errors import PoiseError, UsageError, near_misses, suggestion

#: Kind of value of a parameter. A list has entries of text; on the command line its option may be repeated.
ParameterKind = Literal["number", "integer", "flag", "choice", "text", "list"]
Settings = TypeVar("Settings")

#: Upper limit of gains and times: no gain above the control rate helps, and no motion lasts longer.
MAX_GAIN = 1e3
_KEY = "parameter"
_FLAGS = {"true": True, "false": False, "1": True, "0": False, "1.0": True, "0.0": False}


@dataclass(frozen=True, eq=False)
class Parameter:
    """Declaration of a setting: its kind, unit, allowed values, default and description.

    Attributes:
        name: name of the field.
        kind: kind of value.
        default: default value; None: derived from other settings.
        description: sentence fragment for help texts.
        unit: unit of a number; "" if it has none.
        low, high: smallest and largest value.
        excludes_low: whether `low` itself is excluded.
        excludes_high: whether `high` itself is excluded.
        choices: allowed values of a choice; empty: any.
        suggestions: values of a text to offer in a menu.
        typical_range: useful range, for sliders; None: the whole range.
        metavar: placeholder of the value in help texts.
        option: name on the command line (without leading dashes) and in campaign specs.
        parser: converts a text to the value and raises its own error; None: convert according to `kind`.
        types: further Python types of values that are accepted.
    """

    name: str = ""
    kind: ParameterKind = "number"
    default: Any = None
    description: str = ""
    unit: str = ""
    low: float = -math.inf
    high: float = math.inf
    excludes_low: bool = False
    excludes_high: bool = False
    choices: tuple[str, ...] = ()
    suggestions: tuple[str, ...] = ()
    typical_range: tuple[float, float] | None = None
    metavar: str = ""
    option: str = ""
    parser: Callable[[str], Any] | None = None
    types: tuple[type, ...] = ()

    def parse(self, text: str) -> Any:
        """Convert a text to a value of the parameter.

        Raises:
            UsageError: the text is no allowed value; the message says what was expected.
        """
        if self.kind == "list":
            return tuple(self._parse_value(part.strip()) for part in text.split(";") if part.strip())
        value = self._parse_value(text)
        if self.parser is None and not self.accepts(value):
            raise UsageError(f"invalid value '{text}'; expected {self.expected}")
        return value

    def parse_one(self, text: str) -> Any:
        """Convert a text to a value or, for a list, to one entry of it."""
        return self._parse_value(text) if self.kind == "list" else self.parse(text)

    def _parse_value(self, text: str) -> Any:
        if self.parser is not None:
            return self.parser(text)
        if self.kind == "flag":
            if text.lower() not in _FLAGS:
                raise UsageError(f"invalid value '{text}'; expected true or false")
            return _FLAGS[text.lower()]
        if self.kind in ("number", "integer"):
            number = parsing.parse_number(text)
            if number is None:
                raise UsageError(f"'{text}' is not a number")
            return int(number) if self.kind == "integer" and number == int(number) else number
        return text

    def format(self, value: Any) -> str:
        """Convert a value to text; a float keeps all its digits."""
        if isinstance(value, bool):
            return str(value).lower()
        if isinstance(value, (tuple, list)):
            return (";" if self.kind == "list" else ",").join(self.format(each) for each in value)
        return str(value)

    def accepts(self, value: Any) -> bool:
        """Return whether the value is allowed; None is allowed only if it is the default."""
        if value is None:
            return self.default is None
        if self.types and isinstance(value, self.types):
            return True
        if self.kind == "flag":
            return isinstance(value, bool)
        if self.kind in ("number", "integer"):
            if isinstance(value, bool) or not isinstance(value, (int, float)):
                return False
            if self.kind == "integer" and value != round(value):
                return False
            low = self.low < value if self.excludes_low else self.low <= value
            return low and (value < self.high if self.excludes_high else value <= self.high)
        if self.kind == "choice":
            return value in self.choices
        return isinstance(value, tuple if self.kind == "list" else (str, tuple))

    @property
    def expected(self) -> str:
        """Allowed values as text, for error messages."""
        if self.kind == "flag":
            return "true or false"
        if self.kind == "choice":
            allowed = [repr(word) if " " in "".join(self.choices) else word for word in self.choices]
            return f"one of {', '.join(allowed)}" if len(allowed) > 2 else " or ".join(allowed)
        if self.kind in ("text", "list"):
            return "a text"
        noun = "whole number" if self.kind == "integer" else "number"
        if math.isinf(self.low) and math.isinf(self.high):
            return f"a {noun}"
        if math.isfinite(self.low) and math.isfinite(self.high) and not (self.excludes_low or self.excludes_high):
            degrees = f" ({math.degrees(self.low):.0f} to {math.degrees(self.high):.0f} degrees)"
            unit = f" {self.unit}{degrees if self.unit == 'rad' else ''}" if self.unit else ""
            return f"{self.low:g} to {self.high:g}{unit}"
        positive = f"a positive {noun}" if self.excludes_low else f"zero or a positive {noun}"
        return positive if math.isinf(self.high) else f"{positive} below {self.high:g}"

    @property
    def help(self) -> str:
        """Help text: description, unit and default."""
        facts = [self.unit] if self.unit else []
        shown = self.default not in (None, "", ()) and self.kind != "flag"
        facts += [f"default {self.format(self.default)}"] if shown else []
        return f"{self.description} ({', '.join(facts)})" if facts else self.description


def parameter(
    default: Any,
    description: str,
    *,
    kind: ParameterKind | None = None,
    unit: str = "",
    low: float = -math.inf,
    high: float = math.inf,
    above: float | None = None,
    below: float | None = None,
    choices: Iterable[str] = (),
    suggestions: Iterable[str] = (),
    typical_range: tuple[float, float] | None = None,
    metavar: str = "",
    option: str = "",
    parser: Callable[[str], Any] | None = None,
    types: tuple[type, ...] = (),
) -> Any:
    """Return a dataclass field with the declaration of a parameter, see `Parameter`.

    Args:
        default, description, kind, unit, low, high, choices, suggestions, typical_range, metavar, option, parser,
            types: as for `Parameter`; without `kind` it is derived from the choices or the default.
        above, below: exclusive bounds, instead of `low` and `high`.
    """
    allowed = tuple(choices)
    declaration = Parameter(
        kind=kind or _kind_of(default, allowed),
        default=default,
        description=description,
        unit=unit,
        low=low if above is None else above,
        high=high if below is None else below,
        excludes_low=above is not None,
        excludes_high=below is not None,
        choices=allowed,
        suggestions=tuple(suggestions),
        typical_range=typical_range,
        metavar=metavar,
        option=option,
        parser=parser,
        types=types,
    )
    return field(default=default, metadata={_KEY: declaration})


def gain_parameter(
    default: float,
    description: str,
    unit: str = "1/s",
    zero: bool = False,
    typical_range: tuple[float, float] | None = None,
) -> Any:
    """Return a field for a gain, a fraction or a time: a positive number below `MAX_GAIN`; with `zero`, also zero."""
    above = None if zero else 0.0
    return parameter(default, description, unit=unit, low=0.0, above=above, below=MAX_GAIN, typical_range=typical_range)


def declared_in(cls: Any, name: str) -> Any:
    """Return a field with the same declaration and default as the field of that name in another dataclass.

    >>> @dataclass(frozen=True)
    ... class ServoWalkSettings:
    ...     step_length: float = declared_in(Style, "step_length")
    """
    original = next(each for each in fields(cls) if each.name == name)
    return field(default=original.default, metadata=original.metadata)


def _kind_of(default: Any, choices: tuple[str, ...]) -> ParameterKind:
    if choices:
        return "choice"
    for type_, kind in ((bool, "flag"), (int, "integer"), (float, "number"), (str, "text"), (tuple, "list")):
        if isinstance(default, type_):
            return kind  # type: ignore[return-value]
    raise PoiseError(f"a parameter with the default {default!r} has no known kind; give kind=")


def parameters(cls: Any) -> Mapping[str, Parameter]:
    """Return the declared parameters of a dataclass by field name, including those of nested dataclasses."""
    return _parameters(cls)


@cache
def _parameters(cls: Any) -> Mapping[str, Parameter]:
    by_name: dict[str, Parameter] = {}
    for each in fields(cls):
        if _KEY in each.metadata:
            declaration: Parameter = each.metadata[_KEY]
            option = declaration.option or each.name.replace("_", "-")
            by_name[each.name] = replace(declaration, name=each.name, option=option)
        elif (nested := _nested_dataclass(each)) is not None:
            by_name |= parameters(nested)
    return by_name


def _nested_dataclass(each: Field[Any]) -> type | None:
    """Return the dataclass that a field contains, if its default factory is one, else None."""
    factory: Any = each.default_factory
    return factory if isinstance(factory, type) and is_dataclass(factory) else None


def check_parameters(instance: Any, label: str, error: type[PoiseError] = PoiseError) -> None:
    """Raise an error unless every declared field of a dataclass instance has an allowed value.

    Args:
        instance: the dataclass instance.
        label: name of the instance in the message, like ``"walk"``.
        error: class of the error.
    """
    for name, declaration in parameters(type(instance)).items():
        if name not in instance.__dataclass_fields__:  # belongs to a nested dataclass, which checks itself
            continue
        value = getattr(instance, name)
        if not declaration.accepts(value):
            raise error(f"{label}: {name} is {value!r}; expected {declaration.expected}")


class FormerNames:
    """Base class of dataclasses whose parameters had other names or values in earlier versions.

    Attributes:
        former_names: today's name by former name.
        former_values: today's value by former value, for parameters by today's name.
    """

    former_names: ClassVar[Mapping[str, str]] = MappingProxyType({})
    former_values: ClassVar[Mapping[str, Mapping[str, str]]] = MappingProxyType({})


def current_settings(cls: Any, settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the settings of a file or command of an earlier version, with today's names and values.

    Args:
        cls: settings dataclass; former names of the dataclasses that it contains count, too.
        settings: values by name. Unknown names are not changed.

    Raises:
        UsageError: a setting is given by its former name and by today's.
    """
    nested = (_nested_dataclass(each) for each in fields(cls))
    classes = [each for each in (cls, *nested) if each is not None and issubclass(each, FormerNames)]
    names = {former: name for each in classes for former, name in each.former_names.items()}
    values = {name: former for each in classes for name, former in each.former_values.items()}
    return {
        name: values[name].get(value, value) if name in values and isinstance(value, str) else value
        for name, value in parsing.rename_former_keys(settings, names).items()
    }


def settings_from(cls: type[Settings], settings: Mapping[str, Any], other_names: Iterable[str] = ()) -> Settings:
    """Return an instance of a settings dataclass with the given values by field name, nested dataclasses included.

    The numbers 1 and 0 are accepted for flags, as in files of earlier versions.

    Args:
        cls: settings dataclass.
        settings: values by name.
        other_names: names of settings of other dataclasses, which an error may suggest.

    Raises:
        UsageError: there is no setting of that name.
    """
    declarations = parameters(cls)
    values: dict[str, Any] = {}
    for name, value in settings.items():
        if name not in declarations:
            names = [*declarations, *other_names]
            hint = suggestion(name, names if near_misses(name, names) else declarations)
            raise UsageError(f"no setting '{name}'; {hint}")
        flag = declarations[name].kind == "flag" and not isinstance(value, bool) and value in (0, 1)
        values[name] = bool(value) if flag else value
    own = {name: value for name, value in values.items() if name in cls.__dataclass_fields__}  # type: ignore[attr-defined]
    for each in fields(cls):  # type: ignore[arg-type]
        if (nested := _nested_dataclass(each)) is not None:
            inner = parameters(nested)
            own[each.name] = nested(**{name: value for name, value in values.items() if name in inner})
    return cls(**own)
