"""The web server of the studio: served files, and refused requests."""

from __future__ import annotations

import http.client
import socket
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from websockets.exceptions import InvalidStatus
from websockets.sync.client import connect
from websockets.typing import Origin

from fake_hub import FakeHub
from open_studio import studio
from poise.errors import PoiseError, UsageError
from poise.studio import Server, http_security
from waiting import STALL_SECONDS


@pytest.fixture
def hub_and_server(tmp_path: Path) -> Iterator[tuple[FakeHub, Server]]:
    folder = tmp_path / "output"
    folder.mkdir()
    (folder / "walk-g1-1.poise").write_bytes(bytes(range(256)) * 100)
    (folder / "täglich 1.csv").write_text("time\n")
    (tmp_path / "secret.csv").write_text("secret")
    with studio(folder) as both:
        yield both


def request(server: Server, path: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    """Status, headers and body. The path is sent unchanged."""
    connection = http.client.HTTPConnection("127.0.0.1", server.port, timeout=STALL_SECONDS)
    connection.request("GET", path, headers=headers)
    answer = connection.getresponse()
    body = answer.read()
    connection.close()
    return answer.status, dict(answer.getheaders()), body


def test_the_shell_page_and_all_its_files_are_served(hub_and_server: tuple[FakeHub, Server]) -> None:
    status, headers, body = request(hub_and_server[1], "/")
    assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
    named = [part.split(b'"')[0].decode() for part in body.split(b'"/page/')[1:]]
    assert {"main.js", "theme.css", "icon.svg"} <= set(named)
    for path in http_security.PAGE_FOLDER.iterdir():
        status, _, content = request(hub_and_server[1], f"/page/{path.name}")
        assert (status, content) == (200, path.read_bytes())
    assert all((http_security.PAGE_FOLDER / name).is_file() for name in named)


def test_no_file_of_the_page_names_an_outside_address() -> None:
    for path in http_security.PAGE_FOLDER.iterdir():
        text = path.read_text().replace("http://www.w3.org/2000/svg", "")
        assert "http://" not in text
        assert "https://" not in text


def test_every_answer_has_security_headers(hub_and_server: tuple[FakeHub, Server]) -> None:
    for path in ("/", "/page/main.js", "/viser/", "/files/walk-g1-1.poise", "/save/save", "/nothing"):
        _, headers, _ = request(hub_and_server[1], path)
        assert headers["X-Content-Type-Options"] == "nosniff"
        assert headers["Referrer-Policy"] == "no-referrer"
        assert headers["Cross-Origin-Resource-Policy"] == "same-origin"
        policy = headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "frame-ancestors 'self'" in policy
    assert "unsafe" not in request(hub_and_server[1], "/")[1]["Content-Security-Policy"]


@pytest.mark.parametrize(
    "path",
    [
        "/files/../secret.csv", "/files/..%2fsecret.csv", "/files/%2e%2e%2fsecret.csv", "/files//etc/passwd", "/files/",
        "/files/%2fetc%2fpasswd", "/page/../server.py", "/page/..%2fserver.py", "/page/%2e%2e/server.py",
        "/viser/../../__init__.py", "/viser/..%2f..%2f__init__.py", "/../server.py", "/server.py", "/save/..",
        "/save/", "/index.html", "/files/walk-g1-1.poise%00.csv", "/page/", "/live", "/vws", "//",
        "/files/..%5csecret.csv",
    ],
)  # fmt: skip
def test_nothing_else_of_the_disk_can_be_reached(hub_and_server: tuple[FakeHub, Server], path: str) -> None:
    status, headers, body = request(hub_and_server[1], path)
    assert body == (http_security.PAGE_FOLDER / "index.html").read_bytes() or status == 404
    assert b"secret" not in body.replace(b"secret.csv", b"")
    assert headers["X-Content-Type-Options"] == "nosniff"


def test_a_file_is_downloaded_as_it_is_and_never_shown(hub_and_server: tuple[FakeHub, Server]) -> None:
    status, headers, body = request(hub_and_server[1], "/files/walk-g1-1.poise")
    assert (status, body) == (200, bytes(range(256)) * 100)
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''walk-g1-1.poise"
    assert headers["Content-Type"] == "application/octet-stream"
    assert request(hub_and_server[1], "/files/t%C3%A4glich%201.csv")[2] == b"time\n"


def test_a_file_of_many_megabytes_arrives_whole(hub_and_server: tuple[FakeHub, Server]) -> None:
    content = bytes(range(256)) * 100_000
    (hub_and_server[0].output.folder / "long.poise").write_bytes(content)
    assert request(hub_and_server[1], "/files/long.poise")[2] == content


def test_a_save_control_offers_its_text(hub_and_server: tuple[FakeHub, Server]) -> None:
    status, headers, body = request(hub_and_server[1], "/save/save")
    assert (status, body) == (200, b"name = 'neutral'\n")
    assert headers["Content-Disposition"] == "attachment; filename*=UTF-8''neutral%20style.toml"
    assert request(hub_and_server[1], "/save/other")[0] == 404


@pytest.mark.parametrize("path", ["/", "/viser/", "/files/walk-g1-1.poise", "/live"])
def test_a_request_for_another_host_is_refused_in_one_line(hub_and_server: tuple[FakeHub, Server], path: str) -> None:
    status, _, body = request(hub_and_server[1], path, Host=f"evil.example:{hub_and_server[1].port}")
    assert (status, body.count(b"\n")) == (403, 1)
    assert b"evil.example" in body


@pytest.mark.parametrize("path", ["live", "vws", "upload/load?name=a.toml"])
def test_a_websocket_of_another_site_is_refused(hub_and_server: tuple[FakeHub, Server], path: str) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{hub_and_server[1].port}/{path}", origin=Origin("http://evil.example"), proxy=None)
    assert refused.value.response.status_code == 403
    assert hub_and_server[0].page_counts == []


def test_there_are_no_other_websockets(hub_and_server: tuple[FakeHub, Server]) -> None:
    with pytest.raises(InvalidStatus) as refused:
        connect(f"ws://127.0.0.1:{hub_and_server[1].port}/lives", proxy=None)
    assert refused.value.response.status_code == 404


def test_methods_other_than_get_are_refused(hub_and_server: tuple[FakeHub, Server]) -> None:
    with socket.create_connection(("127.0.0.1", hub_and_server[1].port), timeout=STALL_SECONDS) as raw:
        raw.sendall(b"POST /upload/load HTTP/1.1\r\nHost: x\r\nContent-Length: 4\r\n\r\nabcd")
        assert b"200" not in raw.recv(100)
    assert request(hub_and_server[1], "/")[0] == 200


def test_a_port_that_is_taken_is_one_clear_line(hub_and_server: tuple[FakeHub, Server]) -> None:
    taken = hub_and_server[1].port
    with pytest.raises(UsageError, match=f"port {taken} of '127.0.0.1' is in use.*--port {taken + 1}") as raised:
        Server(hub_and_server[0], "127.0.0.1", taken)
    assert isinstance(raised.value, PoiseError)
    assert "\n" not in str(raised.value)


def test_the_command_on_a_port_that_is_taken_prints_one_line_only(
    hub_and_server: tuple[FakeHub, Server], tmp_path: Path
) -> None:
    command = [sys.executable, "-m", "poise", "studio", "--port", str(hub_and_server[1].port), "--out", str(tmp_path)]
    result = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (result.returncode, result.stdout, result.stderr.count("\n")) == (2, "", 1)
    assert "is in use" in result.stderr


@pytest.mark.parametrize(("host", "port"), [("127.0.0.1", 70000), ("127.0.0.1", -1), ("192.0.2.1", 0)])
def test_an_invalid_host_or_port_is_refused(tmp_path: Path, host: str, port: int) -> None:
    with pytest.raises(UsageError, match="expected"):
        Server(FakeHub(tmp_path), host, port)


def test_without_the_viser_client_the_error_names_the_package_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setattr(http_security, "VISER_CLIENT", Path("client/elsewhere.html"))
    with pytest.raises(UsageError, match=r"viser has no 'client/elsewhere.html'.*pip install"):
        Server(FakeHub(tmp_path), "127.0.0.1", 0)


def test_beyond_loopback_a_token_is_created_and_required(tmp_path: Path) -> None:
    server = Server(FakeHub(tmp_path), "0.0.0.0", 0)
    server.start()
    try:
        assert server.url.endswith(f"/?token={server.access.token}")
        assert len(server.access.token) >= 20
        for path in ("/", "/?token=wrong", "/page/main.js", "/viser/", "/files/a", "/save/save"):
            status, _, body = request(server, path)
            assert (status, body.count(b"\n")) == (403, 1)
            assert server.access.token.encode() not in body
        with pytest.raises(InvalidStatus):
            connect(f"ws://127.0.0.1:{server.port}/live", proxy=None)
        status, headers, _ = request(server, f"/?token={server.access.token}")
        assert (status, headers["Location"]) == (303, "/")
        assert "HttpOnly" in headers["Set-Cookie"]
        cookie = headers["Set-Cookie"].split(";")[0]
        assert request(server, "/", Cookie=cookie)[0] == 200
        with connect(f"ws://127.0.0.1:{server.port}/live", additional_headers={"Cookie": cookie}, proxy=None) as page:
            assert '"hello"' in page.recv()
    finally:
        server.stop()


def test_a_server_that_has_stopped_leaves_its_port_and_can_be_stopped_again(tmp_path: Path) -> None:
    with studio(tmp_path) as (hub, server):
        server.stop()
        again = Server(hub, "127.0.0.1", server.port)
        again.start()
        assert request(again, "/")[0] == 200
        again.stop()
