"""Access control of the studio server: hosts, origins and tokens."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from poise.parsing import is_loopback
from poise.studio.http_security import AccessControl

LOCAL = AccessControl("127.0.0.1", 8080)
AWAY = AccessControl("0.0.0.0", 8080, "secret")


def headers(**values: str) -> Callable[[str], Sequence[str]]:
    return lambda name: [values[name]] if name in values else []


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1", "[::1]", "127.3.2.1", "LOCALHOST"])
def test_loopback_is_reached_from_this_machine_only(host: str) -> None:
    assert is_loopback(host)


@pytest.mark.parametrize("host", ["", "0.0.0.0", "::", "192.168.1.4", "robot.example", "localhost.example"])
def test_other_hosts_are_not_loopback(host: str) -> None:
    assert not is_loopback(host)


@pytest.mark.parametrize("host", ["127.0.0.1:8080", "localhost:8080", "[::1]:8080", "LocalHost:8080"])
def test_a_loopback_host_with_our_port_is_accepted(host: str) -> None:
    assert LOCAL.request_error(headers(Host=host)) == ""


@pytest.mark.parametrize(
    "host", ["evil.example:8080", "localhost", "localhost:80", "localhost.evil.example:8080", "x y", ""]
)
def test_other_host_names_are_refused_against_dns_rebinding(host: str) -> None:
    assert LOCAL.request_error(headers(Host=host)) != ""


def test_a_request_with_no_host_or_two_is_refused() -> None:
    assert LOCAL.request_error(lambda name: []) != ""
    assert LOCAL.request_error(lambda name: ["localhost:8080", "localhost:8080"] if name == "Host" else []) != ""


def test_the_port_of_http_may_be_left_out() -> None:
    assert AccessControl("127.0.0.1", 80).request_error(headers(Host="localhost")) == ""


@pytest.mark.parametrize("access", [LOCAL, AWAY])
@pytest.mark.parametrize(
    "origin", ["http://evil.example", "http://localhost:8081", "null", "file://", "http://localhost"]
)
def test_a_page_of_another_origin_is_refused(access: AccessControl, origin: str) -> None:
    assert "another site" in access.request_error(headers(Host="localhost:8080", Origin=origin))


@pytest.mark.parametrize("access", [LOCAL, AWAY])
def test_our_own_page_and_requests_without_an_origin_are_accepted(access: AccessControl) -> None:
    assert access.request_error(headers(Host="localhost:8080", Origin="http://localhost:8080")) == ""
    assert access.request_error(headers(Host="localhost:8080")) == ""


def test_beyond_loopback_any_host_is_accepted_but_the_cookie_is_required() -> None:
    assert AWAY.request_error(headers(Host="robot.example:8080")) == ""
    assert "token" in AWAY.authentication_error(headers(Host="robot.example:8080"))
    assert "token" in AWAY.authentication_error(headers(Cookie="poise_studio_8080=wrong; other=secret"))
    assert AWAY.authentication_error(headers(Cookie="other=1; poise_studio_8080=secret")) == ""


def test_only_the_exact_token_matches() -> None:
    assert AWAY.token_matches("secret")
    assert not any(AWAY.token_matches(token) for token in ("", "secre", "secret ", "sécret", "\udcff"))


def test_without_a_token_no_token_matches_and_none_is_required() -> None:
    assert not LOCAL.token_matches("")
    assert LOCAL.authentication_error(headers()) == ""
