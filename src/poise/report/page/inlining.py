"""Inlining: SVG as it can stand in a page among others, and small."""

from __future__ import annotations

import re
import zlib
from html import escape

#: What a page has no use for: facts about the file, a style sheet that would hold for the whole page, remarks.
_USELESS = re.compile(r"<metadata>.*?</metadata>|<style.*?</style>|<!--.*?-->", re.DOTALL)
#: Attributes that hold places, whose digits may go.
_PLACES = re.compile(r'(?: d| x| y|transform)="[^"]*"')
_DIGITS = re.compile(r"-?\d+\.\d{2,}")


def inlined(svg: str, described: str) -> str:
    """SVG without head, name spaces, style sheet and unused names, with places to a tenth of a unit.

    Names that are used begin with a sum of the whole text, so that they differ from those of other figures.

    Args:
        svg: a whole file.
        described: what is seen, for who cannot see it.
    """
    svg = _USELESS.sub("", svg[svg.index("<svg") :])
    view = re.search(r'viewBox="([^"]+)"', svg)
    box = view[1] if view else "0 0 100 100"
    svg = re.sub(r"<svg[^>]*>", f'<svg viewBox="{box}" role="img" aria-label="{escape(described)}">', svg, count=1)
    svg = svg.replace("xlink:href", "href")
    used = set(re.findall(r'(?:href="#|url\(#)([\w.-]+)', svg))
    prefix = f"f{zlib.crc32(svg.encode()):x}-"
    svg = re.sub(r' id="([\w.-]+)"', lambda found: f' id="{prefix}{found[1]}"' if found[1] in used else "", svg)
    svg = re.sub(r'(href="#|url\(#)', rf"\g<1>{prefix}", svg)
    # The typeface is that of the page.
    svg = re.sub(r"font: (?:[a-z]+ )*([\d.]+)px [^;\"]*", r"font-size: \1px", svg)
    svg = re.sub(r" ?font-family: [^;\"]*;?", "", svg)
    svg = re.sub(r' transform="rotate\(-?0 [^"]*"', "", svg)
    svg = _PLACES.sub(lambda found: _DIGITS.sub(_rounded, found[0]), svg)
    svg = re.sub(r"<defs>\s*</defs>|<g>\s*</g>", "", svg)
    return re.sub(r"\s*\n\s*", "\n", svg)


def _rounded(found: re.Match[str]) -> str:
    return f"{round(float(found[0]), 1) + 0.0:.1f}".removesuffix(".0")  # adding zero turns -0 into 0
