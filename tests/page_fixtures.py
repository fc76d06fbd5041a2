"""Fixtures of the tests of the studio's page in a browser, for `pytest_plugins` of a test module."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from fake_hub import FakeHub
from open_studio import PADS, begin_again, chromium, open_page, studio


@pytest.fixture(scope="module")
def browser() -> Iterator[Any]:
    """A browser without a 3D view."""
    with chromium() as opened:
        yield opened


@pytest.fixture(scope="module")
def shared_page_and_hub(browser: Any, tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Any, FakeHub]]:
    """A page with simulated gamepads, and its hub; started once per module."""
    with (
        studio(tmp_path_factory.mktemp("output")) as (hub, server),
        open_page(browser, server, before=PADS) as page,
    ):
        yield page, hub


@pytest.fixture
def gamepad_page_and_hub(shared_page_and_hub: tuple[Any, FakeHub]) -> Iterator[tuple[Any, FakeHub]]:
    """The shared page, loaded again, and its hub; errors on the page fail the test."""
    page, hub = shared_page_and_hub
    begin_again(page, hub)
    yield page, hub
    assert page.errors == []
