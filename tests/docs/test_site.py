"""The documentation site builds without a warning, loads nothing from elsewhere, and has no dead links."""

from __future__ import annotations

import fcntl
import importlib
import os
import re
import subprocess
import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote

import pytest

import poise
from open_studio import chromium

pytest.importorskip("mkdocs")
pytest.importorskip("mkdocstrings")

ROOT = Path(__file__).parents[2]
#: Packages on the reference pages.
PACKAGES = re.findall(
    r"^::: (\S+)$", "\n".join(page.read_text() for page in (ROOT / "docs/reference").glob("*.md")), re.M
)
#: Attributes that make a browser load a file.
LOADS = {("script", "src"), ("img", "src"), ("iframe", "src"), ("source", "src"), ("link", "href")}


class Page(HTMLParser):
    """Names and links of a page, and what it loads."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.names: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        for key, value in attrs:
            if value is None:
                continue
            if key in ("id", "name"):
                self.names.add(value)
            if (tag, key) in LOADS:
                self.loads.append(value)
            if key == "href" or (tag, key) == ("img", "src"):
                self.links.append(value)


@pytest.fixture(scope="module")
def site(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The site, built once for all processes of the tests."""
    shared = tmp_path_factory.getbasetemp()
    shared = shared.parent if "PYTEST_XDIST_WORKER" in os.environ else shared
    with open(shared / "site.lock", "w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        if not (shared / "site/built").exists():
            build(shared / "site")
            (shared / "site/built").touch()
    return shared / "site"


def build(folder: Path) -> None:
    command = [sys.executable, "-m", "mkdocs", "build", "--strict", "--quiet", "--site-dir", str(folder)]
    quiet = {**os.environ, "NO_MKDOCS_2_WARNING": "1"}
    built = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, env=quiet)
    assert built.returncode == 0, built.stdout + built.stderr


@pytest.fixture(scope="module")
def pages(site: Path) -> dict[Path, Page]:
    return {path: Page(path.read_text()) for path in site.rglob("*.html")}


def test_nothing_is_loaded_from_elsewhere(site: Path, pages: dict[Path, Page]) -> None:
    assert len(pages) > 50
    for path, page in pages.items():
        outside = [address for address in page.loads if re.match(r"(?:[a-z]+:)?//", address)]
        assert not outside, f"{path.name} loads {outside}"
    for style in site.rglob("*.css"):
        assert not re.search(r"(?:url\(|@import)\s*[\"']?(?:https?:)?//", style.read_text()), (
            f"{style.name} loads from outside"
        )
    # The theme loads a drawing program for pages with diagrams; there are none.
    assert not any("mermaid" in path.read_text() for path in pages)


def test_every_link_has_a_target(site: Path, pages: dict[Path, Page]) -> None:
    for path, page in pages.items():
        if path.name == "404.html":
            continue  # the error page may be shown at any path, so its links begin at the root
        for link in page.links:
            if re.match(r"[a-z]+:", link):
                continue
            file, _, anchor = link.partition("#")
            target = (path.parent / unquote(file)).resolve() if file else path
            target = target / "index.html" if target.is_dir() else target
            assert target.is_file(), f"{path.relative_to(site)} links to {link}"
            if anchor and target in pages and not anchor.startswith("__"):
                assert unquote(anchor) in pages[target].names, f"{path.relative_to(site)} links to {link}"


def test_the_search_finds_a_glossary_entry_without_a_server_or_a_network(site: Path) -> None:
    with chromium() as browser:
        page = browser.new_page()
        requests: list[str] = []
        page.on("request", lambda request: requests.append(request.url))
        page.goto((site / "index.html").as_uri())
        page.get_by_role("textbox", name="Search").click()
        page.keyboard.type("toe-off")
        entry = page.locator(".md-search-result__link[href*='glossary.html#initial-contact-and-toe-off']")
        entry.first.wait_for()
        entry.first.click()
        page.wait_for_url("**/glossary.html*#initial-contact-and-toe-off")
        assert (site / "search/search_index.js").as_uri() in requests
        remote = [address for address in requests if not address.startswith("file:")]
        assert not remote, f"the site loads {remote}"


@pytest.mark.parametrize("package", PACKAGES)
def test_every_public_name_is_on_the_reference(package: str, site: Path, pages: dict[Path, Page]) -> None:
    module = importlib.import_module(package)
    names = set().union(*(page.names for path, page in pages.items() if path.parent.name == "reference"))
    public = getattr(module, "__all__", None) or [name for name in vars(module) if name.endswith("Error")]
    for name in public:
        thing = getattr(module, name)
        paths = {f"{package}.{name}", f"{getattr(thing, '__module__', package)}.{name}"}
        assert paths & names, f"{package}.{name} is not on the reference"


def test_every_package_has_its_page_and_every_name_of_poise_its_line() -> None:
    packages = {path.parent.name for path in (ROOT / "src/poise").glob("*/__init__.py")} - {"cli", "studio"}
    assert packages <= {package.split(".")[1] for package in PACKAGES}
    front = (ROOT / "docs/reference/index.md").read_text()
    for name in poise.__all__:
        assert f"`poise.{name}`" in front, f"docs/reference/index.md does not list poise.{name}"


def test_every_page_is_in_the_navigation() -> None:
    listed = (ROOT / "mkdocs.yml").read_text().split("\nnav:")[1]
    for page in (ROOT / "docs").rglob("*.md"):
        assert page.relative_to(ROOT / "docs").as_posix() in listed, f"mkdocs.yml does not list {page.name}"
