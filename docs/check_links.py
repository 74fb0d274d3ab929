"""Check that every link of a built site that stays inside it leads somewhere: `python docs/check_links.py FOLDER`."""

import sys
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit


class Page(HTMLParser):
    """The anchors of a page, and what it links to."""

    def __init__(self, path: Path) -> None:
        super().__init__()
        self.path = path
        self.anchors = {"", "#"}
        self.links: list[str] = []
        self.feed(path.read_text(encoding="utf-8"))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep ids and addresses."""
        for name, value in attrs:
            if name == "id" and value:
                self.anchors.add(value)
            elif name in {"href", "src"} and value:
                self.links.append(value)


def broken(folder: Path) -> list[str]:
    """Each link that leads nowhere, with the page that it is on; _static has templates of the theme."""
    pages = {path.resolve(): Page(path) for path in sorted(folder.rglob("*.html")) if "_static" not in path.parts}
    return [
        f"{page.path.relative_to(folder)}: {link}"
        for page in pages.values()
        for link in page.links
        if not _leads_somewhere(page, link, pages)
    ]


def _leads_somewhere(page: Page, link: str, pages: dict[Path, Page]) -> bool:
    parts = urlsplit(link)
    if parts.scheme or parts.netloc:
        return True  # outside
    target = (page.path.parent / unquote(parts.path)).resolve() if parts.path else page.path.resolve()
    if target not in pages:
        return target.exists()
    return not parts.fragment or unquote(parts.fragment) in pages[target].anchors


if __name__ == "__main__":
    found = broken(Path(sys.argv[1]))
    print("\n".join(found) if found else "every internal link leads somewhere")
    sys.exit(bool(found))
