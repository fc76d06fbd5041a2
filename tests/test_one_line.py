"""Error messages are one readable line for any argument."""

import pytest

from poise.errors import PoiseError, RobotError, RowsError


@pytest.mark.parametrize("kind", [PoiseError, RobotError, RowsError])
@pytest.mark.parametrize("name", ["a\nb", "a\r\nb", "a\x1b[31mb", "a\0b", "a\u2028b", "a\x85b"])
def test_a_name_with_line_breaks_does_not_break_the_message(kind: type[PoiseError], name: str) -> None:
    message = str(kind(f"there is no '{name}'; expected another"))
    assert len(message.splitlines()) == 1
    assert message.isprintable()
    assert message.startswith("there is no 'a")


def test_a_very_long_message_is_shortened_in_the_middle() -> None:
    message = str(PoiseError(f"rest is {'[1, ' * 100_000}; expected angles"))
    assert len(message) <= 1200
    assert message.startswith("rest is [1,")
    assert message.endswith("; expected angles")


def test_an_ordinary_message_is_unchanged() -> None:
    assert str(PoiseError("two  blanks, é and π stay")) == "two  blanks, é and π stay"
