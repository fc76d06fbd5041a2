"""MkDocs hooks: pages generated from files outside of docs/, and links that work on the site.

Pages link to each other, and to sources, by paths in the repository, so that they can be read there. On the site README
is the home page; CONTRIBUTING, CHANGELOG, LICENSE, the README of the benchmarks, every example and every source file
that a page links to are pages, too. Links are rewritten accordingly, and citations link to the page of the papers.
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
#: Files outside of docs/, and their pages on the site.
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
#: A link or picture: brackets and target.
LINK = re.compile(r"(\]\()([^)\s]+)(\))")
FENCED = re.compile(r"^```.*?^```|`[^`\n]+`", flags=re.MULTILINE | re.DOTALL)


def on_files(files: Files, config: MkDocsConfig) -> Files:
    """Add the pages that are not in docs/."""
    texts = {target: (ROOT / origin).read_text() for origin, target in ELSEWHERE.items() if (ROOT / origin).is_file()}
    texts["license.md"] = f"# License\n\n{block(texts['license.md'], 'text')}"
    examples = sorted((ROOT / "examples").glob("[0-9]*.py"))
    texts["examples/index.md"] = listing(examples)
    texts |= {f"examples/{path.stem}.md": example(path) for path in examples}
    written = {f"docs/{file.src_uri}": Path(str(file.abs_src_path)).read_text() for file in files.documentation_pages()}
    written |= {origin: (ROOT / origin).read_text() for origin in ELSEWHERE if origin.endswith(".md")}
    for origin, text in written.items():
        for linked in links(text):
            path = posixpath.normpath(posixpath.join(posixpath.dirname(origin), linked.partition("#")[0]))
            if page_path(path).startswith("source/"):
                texts[page_path(path)] = source(path)
    for name, text in texts.items():
        files.append(File.generated(config, name, content=text))
    return files


def on_page_markdown(markdown: str, page: Page, config: MkDocsConfig, files: Files) -> str:
    """Return the text of a page with links that work on the site."""
    here = page.file.src_uri
    if here.startswith(("source/", "license")):
        return markdown
    origin = next((path for path, name in ELSEWHERE.items() if name == here), f"docs/{here}")

    def site_link(match: re.Match[str]) -> str:
        target = match[2]
        if "://" in target or target.startswith(("#", "mailto:")):
            return match[0]
        path, mark, anchor = target.partition("#")
        target_page = page_path(posixpath.normpath(posixpath.join(posixpath.dirname(origin), path)))
        return f"{match[1]}{posixpath.relpath(target_page, posixpath.dirname(here) or '.')}{mark}{anchor}{match[3]}"

    if not here.startswith("examples/"):
        markdown = replace_links(markdown, site_link)
    if here.startswith("reference/"):
        markdown = re.sub(r"^(#+) .*\n\n::: ([\w.]+)$|^::: ([\w.]+)$", package_reference, markdown, flags=re.MULTILINE)
    papers = posixpath.relpath("papers.md", posixpath.dirname(here) or ".")
    return markdown + "\n\n" + "\n".join(f"[{name}]: {papers}#{name.lower()}" for name in PAPERS) + "\n"


def on_page_context(context: dict[str, Any], page: Page, config: MkDocsConfig, nav: Any) -> dict[str, Any]:
    """Exclude source files from the search."""
    if page.file.src_uri.startswith("source/"):
        page.meta["search"] = {"exclude": True}
    return context


def package_reference(match: re.Match[str]) -> str:
    """Return the reference of a package, e.g. ``::: poise.tasks``: its docstring, then the names of its ``__all__``."""
    heading, package = match[1] or "#", match[2] or match[3]
    shown = "      show_root_heading: true\n      show_root_toc_entry: true\n"
    entry = "::: {path}\n    options:\n      heading_level: {depth}\n" + shown
    own = f"::: {package}\n    options:\n      members: false\n"
    paths = public_names(package).values()
    if not paths:
        return match[0]
    title = f"{match[0].splitlines()[0]}\n\n" if match[2] else ""
    return title + "\n".join([own, *(entry.format(path=path, depth=len(heading) + 1) for path in paths)])


def public_names(package: str) -> dict[str, str]:
    """Return the public names of a package with the dotted path of each, see `definition_path`."""
    folder = ROOT / "src" / package.replace(".", "/")
    if not folder.is_dir():
        return {}
    names: list[str] = []
    for node in ast.walk(ast.parse((folder / "__init__.py").read_text())):
        if isinstance(node, ast.Assign) and isinstance(node.targets[0], ast.Name) and node.targets[0].id == "__all__":
            names = list(ast.literal_eval(node.value))
    return {name: definition_path(package, name) for name in names}


def definition_path(package: str, name: str) -> str:
    """Return the dotted path of a name in a package.

    If a module on the import path has the same name, return the path of the definition, since the short path would mean
    that module.
    """
    at, ambiguous = package, False
    while True:
        folder = ROOT / "src" / at.replace(".", "/")
        origin = import_origin(folder, name)
        if origin in (None, at):  # it is defined here, or is a module
            return f"{at}.{name}" if ambiguous and origin is None else f"{package}.{name}"
        ambiguous |= any(each.stem == name for each in folder.iterdir())
        at = str(origin)


def import_origin(folder: Path, name: str) -> str | None:
    """Return the module from which a package imports a name; None if the folder is no package or does not import it."""
    if not folder.is_dir():
        return None
    nodes = [
        node for node in ast.walk(ast.parse((folder / "__init__.py").read_text())) if isinstance(node, ast.ImportFrom)
    ]
    origins = (node.module for node in nodes if name in (alias.asname or alias.name for alias in node.names))
    return next(origins, None)


def page_path(path: str) -> str:
    """Return the page on the site of a file of the repository."""
    if path in ELSEWHERE:
        return ELSEWHERE[path]
    if path.startswith("docs/"):
        return path.removeprefix("docs/")
    if re.fullmatch(r"examples/\d.*\.py", path):
        return f"{path.removesuffix('.py')}.md"
    return f"source/{path.replace('.', '_')}.md"


def links(text: str) -> list[str]:
    """Return the relative links of a page."""
    targets = [match[1] for match in LINK.findall(FENCED.sub("", text))]
    return [link for link in targets if "://" not in link and not link.startswith(("#", "mailto:"))]


def replace_links(text: str, change: Any) -> str:
    """Apply a function to every link outside of code."""
    parts, last = [], 0
    for code in FENCED.finditer(text):
        parts += [LINK.sub(change, text[last : code.start()]), code[0]]
        last = code.end()
    return "".join([*parts, LINK.sub(change, text[last:])])


def block(text: str, language: str) -> str:
    return f"````{language}\n{text.rstrip()}\n````\n"


def source(path: str) -> str:
    """Return the page of a source file, or of a folder."""
    file = ROOT / path
    if file.is_dir():
        return f"# {path}\n\n" + "\n".join(
            f"- `{each.name}`" for each in sorted(file.iterdir()) if each.name[0] not in "._"
        )
    head = "---\nsearch:\n  exclude: true\n---\n"
    return f"{head}# {file.name}\n\n`{path}`\n\n{block(file.read_text(), LANGUAGES.get(file.suffix, 'text'))}"


def title(path: Path) -> str:
    """Return the title of an example: the first sentence of its docstring."""
    match = re.match(r'"""(.*?)(?:\.?\s*"""|\.?\n)', path.read_text())
    return match[1] if match else path.stem


def example(path: Path) -> str:
    """Return the page of an example."""
    command = f"    python {path.relative_to(ROOT).as_posix()}\n"
    return f"# {title(path).partition(':')[0]}\n\n{block(path.read_text(), 'python')}\n{command}"


def listing(examples: list[Path]) -> str:
    rows = "\n".join(
        f"| [{title(path).partition(':')[0]}]({path.stem}.md) |{title(path).partition(':')[2]} |" for path in examples
    )
    head = "# Examples\n\nNumbered programs. Each runs without changes.\n\n| program | description |\n|---|---|\n"
    return f"{head}{rows}\n"
