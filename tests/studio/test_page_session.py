"""Page sessions: messages to pages, commands from pages, and slow pages that delay no other."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from websockets.exceptions import ConnectionClosed
from websockets.sync.client import connect
from websockets.sync.connection import Connection

from fake_hub import CONTROLS, FakeHub
from open_studio import studio
from poise.studio import Server
from poise.studio.http_security import to_json
from poise.studio.page_session import COMMANDS, parse_command
from waiting import STALL_SECONDS, wait_until


@pytest.fixture
def hub_and_server(tmp_path: Path) -> Iterator[tuple[FakeHub, Server]]:
    with studio(tmp_path) as both:
        yield both


def connect_page(server: Server, path: str = "live", **settings: Any) -> Connection:
    return connect(f"ws://127.0.0.1:{server.port}/{path}", proxy=None, **settings)


def next_message(page: Connection, kind: str) -> Any:
    """The next message of a kind."""
    while True:
        message = json.loads(page.recv(timeout=STALL_SECONDS))
        if kind in message:
            return message[kind]


def test_a_page_receives_hello_then_frames_and_messages(hub_and_server: tuple[FakeHub, Server]) -> None:
    hub, server = hub_and_server
    with connect_page(server) as page:
        assert json.loads(page.recv())["hello"] == hub.hello()
        assert next_message(page, "frame") == hub.current_frame
        hub.post_message("info", "the simulation was restarted")
        assert next_message(page, "message")["text"] == "the simulation was restarted"
        hub.show_frame(2, phase="left support")
        assert next_message(page, "frame")["number"] == 2


def test_hello_comes_again_when_it_has_changed(hub_and_server: tuple[FakeHub, Server]) -> None:
    hub, server = hub_and_server
    with connect_page(server) as page:
        assert next_message(page, "hello")["scene"] == "walk"
        hub.scene, hub.hello_version = "reach", 2
        assert next_message(page, "hello")["scene"] == "reach"


def test_a_message_that_another_page_has_shown_comes_to_a_new_page_as_old(
    hub_and_server: tuple[FakeHub, Server],
) -> None:
    hub, server = hub_and_server
    hub.post_message("error", "first")
    with connect_page(server) as page:
        assert not next_message(page, "message")["already_shown"]
        hub.post_message("error", "second")
        assert not next_message(page, "message")["already_shown"]
        with connect_page(server) as another:
            assert [next_message(another, "message")["already_shown"] for _ in range(2)] == [True, True]


def test_commands_of_a_page_reach_the_hub(hub_and_server: tuple[FakeHub, Server]) -> None:
    hub, server = hub_and_server
    commands = [
        ("stick", [1, -0.5, 0]),
        ("control", ["style.step_length", 0.3]),
        ("replay", None),
        ("keep_alive", None),
    ]
    with connect_page(server) as page:
        for name, value in commands:
            page.send(json.dumps({"command": name, "value": value}))
        wait_until(lambda: len(hub.commands) == len(commands))
    assert hub.commands == commands


@pytest.mark.parametrize(
    "text",
    [
        "", "{", "[]", "1", '{"command": 1}', '{"command": "shutdown"}', '{"command": "stick", "value": [2, 0, 0]}',
        '{"command": "stick", "value": [NaN, 0, 0]}', '{"command": "stick", "value": [true, 0, 0]}',
        '{"command": "stick"}',
        '{"command": "time_scale", "value": 3}', '{"command": "play", "value": 1}', '{"command": "scene", "value": ""}',
        "[" * 100_000,
        '{"command": "control", "value": ["a"]}', '{"command": "export", "value": {"file": "a"}}', b"\xff\x00",
        '{"command": "replay", "value": {"file": "a", "time": 1e999}}',
    ],
)  # fmt: skip
def test_invalid_commands_are_refused_in_one_line(hub_and_server: tuple[FakeHub, Server], text: str | bytes) -> None:
    hub, server = hub_and_server
    with connect_page(server) as page:
        page.send(text)
        message = next_message(page, "message")
        assert message["kind"] == "error"
        assert "\n" not in message["text"]
        page.send('{"command": "keep_alive"}')
        wait_until(lambda: hub.commands == [("keep_alive", None)])


def test_every_command_accepts_its_documented_value() -> None:
    examples = {
        "stick": [0, -1, 1], "play": True, "time_scale": 0.1, "scene": "walk", "robot": "g1", "record": False,
        "limb": "left leg", "control": ["a", [1, 2]], "replay": {"file": "a.poise", "time": 0.5}, "loop": True,
        "replay_speed": 2, "undo": None,
        "export": {"file": "a.poise", "format": "csv"}, "cancel_job": "a.csv",
    }  # fmt: skip
    for name in COMMANDS:
        assert parse_command(json.dumps({"command": name, "value": examples.get(name)})) == (name, examples.get(name))
        assert isinstance(parse_command(json.dumps({"command": name, "value": {"no": 1}})), str)


def test_numbers_that_are_not_finite_reach_a_page_as_null() -> None:
    assert json.loads(to_json({"a": [1.5, float("nan"), {"b": float("-inf")}]})) == {"a": [1.5, None, {"b": None}]}


def test_the_hub_knows_the_number_of_pages(hub_and_server: tuple[FakeHub, Server]) -> None:
    hub, server = hub_and_server
    with connect_page(server):
        wait_until(lambda: hub.page_counts == [1])
        with connect_page(server):
            wait_until(lambda: hub.page_counts == [1, 2])
    wait_until(lambda: hub.page_counts == [1, 2, 1, 0])


def test_a_slow_page_gets_only_the_latest_frame_and_delays_no_other_page(
    hub_and_server: tuple[FakeHub, Server],
) -> None:
    hub, server = hub_and_server
    last = 60
    # Room for one message: the client stops reading, as a page on a poor network does.
    with connect_page(server, max_queue=1) as slow, connect_page(server) as quick:
        for number in range(1, last + 1):
            hub.show_frame(number)
            time.sleep(0.02)
        while next_message(quick, "frame")["number"] < last:
            pass
        numbers = [next_message(slow, "frame")["number"]]
        while numbers[-1] < last:
            numbers.append(next_message(slow, "frame")["number"])
    assert len(numbers) <= 4
    assert numbers == sorted(numbers)


def upload(server: Server, data: bytes, control: str = "load", name: str = "a.toml", piece: int = 700) -> str:
    """The answer of the server to an upload."""
    with connect_page(server, f"upload/{control}?name={name}") as page:
        try:
            for begin in range(0, len(data), piece):
                page.send(data[begin : begin + piece])
            page.send("end")
        except ConnectionClosed:
            pass  # refused before it was complete
        answer: str = json.loads(page.recv(timeout=STALL_SECONDS))["error"]
        return answer


def test_a_file_arrives_whole(hub_and_server: tuple[FakeHub, Server]) -> None:
    data = b"a = 1\n" * 300
    assert upload(hub_and_server[1], data, name="my%20style.toml") == ""
    assert hub_and_server[0].uploads == [("load", "my style.toml", data)]


def test_the_error_of_an_uploaded_file_is_reported(hub_and_server: tuple[FakeHub, Server]) -> None:
    assert "is no TOML" in upload(hub_and_server[1], b"nonsense")


def test_a_file_of_exactly_the_limit_is_taken_and_one_byte_more_is_not(hub_and_server: tuple[FakeHub, Server]) -> None:
    most = next(control["max_bytes"] for control in CONTROLS if control["kind"] == "upload")
    assert upload(hub_and_server[1], b"=" * most) == ""
    assert "too large: the limit is 2 kB" in upload(hub_and_server[1], b"=" * (most + 1))
    assert len(hub_and_server[0].uploads) == 1


def test_a_file_of_another_kind_is_refused_by_its_name(hub_and_server: tuple[FakeHub, Server]) -> None:
    assert upload(hub_and_server[1], b"=" * 9000, name="walk.poise") == (
        "'walk.poise' does not end in .toml; choose another file"
    )
    assert upload(hub_and_server[1], b"a=1", name="MINE.TOML") == ""


def test_a_file_without_end_is_refused_while_it_comes(hub_and_server: tuple[FakeHub, Server]) -> None:
    with connect_page(hub_and_server[1], "upload/load?name=a.toml") as page:
        with suppress(ConnectionClosed):
            for _ in range(100_000):  # a gigabyte
                page.send(b"=" * 10_000)
        assert "too large" in page.recv(timeout=STALL_SECONDS)
    assert hub_and_server[0].uploads == []


@pytest.mark.parametrize(
    ("control", "name"),
    [("save", "a"), ("no", "a"), ("load", ""), ("load", "..%2Fa.toml"), ("load", "a" * 300 + ".toml")],
)
def test_an_upload_to_nothing_or_under_no_name_is_refused(
    hub_and_server: tuple[FakeHub, Server], control: str, name: str
) -> None:
    assert upload(hub_and_server[1], b"a=1", control, name) != ""
    assert hub_and_server[0].uploads == []
