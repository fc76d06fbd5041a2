"""What the site has beyond the pages of this folder: pages of files that stand elsewhere in the repository.

Pages link each other, and sources, by their places in the repository, so that they can be read there. On the site
README is the first page; CONTRIBUTING, CHANGELOG, LICENSE and the page of the benchmarks are pages like others, each
example is one, and so is every source that a page links to. Links are rewritten to match, and names of papers lead to
their page.
"""

from __future__ import annotations

import ast
import posixpath
import re
from pathlib import Path
from typing import Any

from mkdocs.config.defaults import MkDocsConfig
from mkdocs.structure.files import File, Files
from mkdocs.structure.pages import Page

ROOT = Path(__file__).resolve().parents[2]
#: Pages that stand outside of docs/, and where they are on the site.
ELSEWHERE = {
    "README.md": "index.md",
    "CONTRIBUTING.md": "contributing.md",
    "CHANGELOG.md": "changes.md",
    "LICENSE": "license.md",
    "benchmarks/README.md": "benchmarks.md",
    "examples": "examples/index.md",
}
PAPERS = ("Saab2012", "Sugihara2008", "Dalibard2012", "Galdeano2014", "Boukheddimi2019")
LANGUAGES = {".py": "python", ".hpp": "cpp", ".cpp": "cpp", ".toml": "toml", ".urdf": "xml", ".json": "json"}
#: A link or picture: its words, and where it leads.
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCED = re.compile(r"^```.*?^```|`[^`\n]+`", flags=re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Adds the pages that are not in docs/."""
    texts = {place: (ROOT / origin).read_text() for origin, place in ELSEWHERE.items() if (ROOT / origin).is_file()}
    texts["license.md"] = f"# Licence\n\n{block(texts['license.md'], 'text')}"
    examples = sorted((ROOT / "examples").glob("[0-9]*.py"))
    texts["examples/index.md"] = listing(examples)
    texts |= {f"examples/{path.stem}.md": example(path) for path in examples}
    written = {f"docs/{file.src_uri}": Path(str(file.abs_src_path)).read_text() for file in files.documentation_pages()}
    written |= {origin: (ROOT / origin).read_text() for origin in ELSEWHERE if origin.endswith(".md")}
    for origin, text in written.items():
        for linked in links(text):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), linked.partition("#")[0]))
            if place(path).startswith("source/"):
                texts[place(path)] = source(path)
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """The text of a page with links that hold on the site."""
    here = page.file.src_uri
    if here.startswith(("source/", "license")):
        return markdown
    origin = next((path for path, name in ELSEWHERE.items() if name == here), f"docs/{here}")

    def led(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        path, mark, anchor = target.partition("#")
        where = place(posixpath.normpath(posixpath.join(posixpath.dirname(origin), path)))
        return f"{match[1]}{posixpath.relpath(where, posixpath.dirname(here) or '.')}{mark}{anchor}{match[3]}"

    if not here.startswith("examples/"):
        markdown = outside_code(markdown, led)
    if here.startswith("reference/"):
        markdown = re.sub(r"^(#+) .*\n\n::: ([\w.]+)$|^::: ([\w.]+)$", of_a_room, markdown, flags=re.MULTILINE)
    papers = posixpath.relpath("papers.md", posixpath.dirname(here) or ".")
    return markdown + "\n\n" + "\n".join(f"[{name}]: {papers}#{name.lower()}" for name in PAPERS) + "\n"


def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Any) -> dict[str, Any]:
    """Sources are not found by the search: pages that explain them are."""
    if page.file.src_uri.startswith("source/"):
        page.meta["search"] = {"exclude": True}
    return context


def of_a_room(match: re.Match[str]) -> str:
    """What a room says of itself, then each of its public names: ``::: poise.tasks`` is all of its ``__all__``."""
    heading, room = match[1] or "#", match[2] or match[3]
    shown = "      show_root_heading: true\n      show_root_toc_entry: true\n"
    entry = "::: {path}\n    options:\n      heading_level: {depth}\n" + shown
    own = f"::: {room}\n    options:\n      members: false\n"
    if not public(room):
        return match[0]
    title = f"{match[0].splitlines()[0]}\n\n" if match[2] else ""
    return title + "\n".join(
        [own, *(entry.format(path=path, depth=len(heading) + 1) for path in public(room).values())]
    )


def public(room: str) -> dict[str, str]:
    """The public names of a room, and the path under which each is found, which is no module of the same name."""
    folder = ROOT / "src" / room.replace(".", "/")
    if not folder.is_dir():
        return {}
    names: list[str] = []
    for node in ast.walk(ast.parse((folder / "__init__.py").read_text())):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            names = list(ast.literal_eval(node.value))
    return {name: found(room, name) for name in names}


def found(room: str, name: str) -> str:
    """The path of a name: where a module on its way is called so, too, that of the place where it is defined."""
    at, misleading = room, False
    while True:
        folder = ROOT / "src" / at.replace(".", "/")
        origin = imported(folder, name)
        if origin in (None, at):  # it is defined here, or is a module
            return f"{at}.{name}" if misleading and origin is None else f"{room}.{name}"
        misleading |= any(each.stem == name for each in folder.iterdir())
        at = str(origin)


def imported(folder: Path, name: str) -> str | None:
    """Where a room has a name from; None if it is no room, or has it from nowhere."""
    if not folder.is_dir():
        return None
    nodes = [
        node for node in ast.walk(ast.parse((folder / "__init__.py").read_text())) if isinstance(node, ast.ImportFrom)
    ]
    origins = (node.module for node in nodes if name in (alias.asname or alias.name for alias in node.names))
    return next(origins, None)


def place(path: str) -> str:
    """Where on the site a file of the repository is."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if re.fullmatch(r"examples/\d.*\.py", path):
        return f"{path.removesuffix('.py')}.md"
    return f"source/{path.replace('.', '_')}.md"


def links(text: str) -> list[str]:
    """Relative links of a page."""
    found = [match[1] for match in LINK.findall(FENCED.sub("", text))]
    return [link for link in found if "://" not in link and not link.startswith(("#", "mailto:"))]


def outside_code(text: str, change: Any) -> str:
    """A text whose links outside of code are changed."""
    parts, last = [], 0
    for code in FENCED.finditer(text):
        parts += [LINK.sub(change, text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, LINK.sub(change, text[last:])])


def block(text: str, language: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````\n"


def source(path: str) -> str:
    """The page of a source file, or of a folder of them."""
    file = ROOT / path
    if file.is_dir():
        return f"# {path}\n\n" + "\n".join(
            f"- `{each.name}`" for each in sorted(file.iterdir()) if each.name[0] not in "._"
        )
    head = "---\nsearch:\n  exclude: true\n---\n"
    return f"{head}# {file.name}\n\n`{path}`\n\n{block(file.read_text(), LANGUAGES.get(file.suffix, 'text'))}"


def title(path: Path) -> str:
    """An example's title: the first sentence of its docstring."""
    found = re.match(r'"""(.*?)(?:\.?\s*"""|\.?\n)', path.read_text())
    return found[1] if found else path.stem


def example(path: Path) -> str:
    """The page of an example."""
    command = f"    python {path.relative_to(ROOT).as_posix()}\n"
    return f"# {title(path).partition(':')[0]}\n\n{block(path.read_text(), 'python')}\n{command}"


def listing(examples: list[Path]) -> str:
    rows = "\n".join(
        f"| [{title(path).partition(':')[0]}]({path.stem}.md) |{title(path).partition(':')[2]} |" for path in examples
    )
    head = (
        "# Examples\n\nNumbered programs, each of which runs as it stands.\n\n| program | in a sentence |\n|---|---|\n"
    )
    return f"{head}{rows}\n"
