"""Check the site that was built: links lead somewhere, nothing is loaded from elsewhere, and the
reference has every public name.

    python docs/check_site.py build/docs
"""

import importlib
import sys
import zlib
from html.parser import HTMLParser
from pathlib import Path
from urllib.parse import unquote, urlsplit

# Whose `__all__` the reference must have.
MODULES = [
    "mercer",
    "mercer.convert",
    "mercer.data",
    "mercer.features",
    "mercer.kernels",
    "mercer.losses",
    "mercer.plots",
    "mercer.report",
    "mercer.testing",
    "mercer.typing",
]
# What makes a browser load something by itself.
LOADING = {
    "audio": "src",
    "embed": "src",
    "iframe": "src",
    "img": "src",
    "link": "href",
    "object": "data",
    "script": "src",
    "source": "src",
    "video": "src",
}
HARMLESS_LINKS = {"author", "canonical", "next", "prev", "search"}  # read, not loaded


class Page(HTMLParser):
    """What a page links to, what it loads, and which places in it can be linked to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.links: list[str] = []
        self.loaded: list[str] = []
        self.places: set[str] = set()
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        values = {name: value or "" for name, value in attrs}
        self.places |= {values[name] for name in ("id", "name") if name in values}
        if tag == "a" and "href" in values:
            self.links.append(values["href"])
        loads = LOADING.get(tag)
        if loads in values and not (tag == "link" and values.get("rel") in HARMLESS_LINKS):
            self.loaded.append(values[loads])


def is_elsewhere(address: str) -> bool:
    """Whether an address is on another host."""
    return address.startswith("//") or urlsplit(address).scheme in ("http", "https", "ftp")


def target_of(page: Path, address: str) -> tuple[Path, str]:
    """The file and the place in it that an address leads to from a page."""
    parts = urlsplit(address)
    target = (page.parent / unquote(parts.path)).resolve() if parts.path else page
    return (target / "index.html" if target.is_dir() else target), unquote(parts.fragment)


def broken(site: Path) -> list[str]:
    """Links within the site that lead nowhere, and what its pages would load from a network."""
    paths = [path.resolve() for path in sorted(site.rglob("*.html")) if "_static" not in path.parts]
    pages = {path: Page(path.read_text()) for path in paths}
    found = []
    for path, page in pages.items():
        name = path.relative_to(site.resolve())
        found += [f"{name}: loads {one}" for one in page.loaded if is_elsewhere(one)]
        for address in [*page.links, *page.loaded]:
            if is_elsewhere(address) or urlsplit(address).scheme:
                continue
            target, place = target_of(path, address)
            places = pages[target].places if target in pages else set()
            if not target.exists() or (place and target in pages and place not in places):
                found.append(f"{name}: {address} leads nowhere")
    return found


def loading_styles(site: Path) -> list[str]:
    """Style sheets that would load a font or a picture from a network."""
    sheets = {path: path.read_text() for path in sorted(site.rglob("*.css"))}
    patterns = ("url(http", "url('http", 'url("http', "url(//", "@import url(http")
    return [
        f"{path.relative_to(site)}: loads from a network"
        for path, text in sheets.items()
        if any(pattern in text for pattern in patterns)
    ]


def documented(inventory: Path) -> set[str]:
    """The Python names in an inventory of Sphinx, with their modules."""
    data = inventory.read_bytes()
    head = 0
    for _ in range(4):  # the lines in front of what is compressed
        head = data.index(b"\n", head) + 1
    lines = zlib.decompress(data[head:]).decode().splitlines()
    entries = [line.rsplit(" ", 4) for line in lines]
    return {entry[0] for entry in entries if entry[1].startswith("py:")}


def public_names() -> list[str]:
    """Every public name of the library, under the module that users import it from."""
    found = []
    for module in MODULES:
        room = importlib.import_module(module)
        own = [name for name, value in vars(room).items() if is_defined(value, module)]
        names = getattr(room, "__all__", own)
        found += [f"{module}.{name}" for name in names if f"{module}.{name}" not in MODULES]
    return sorted(found)


def is_defined(value: object, module: str) -> bool:
    """Whether a module without a list defines a public class itself."""
    is_ours = isinstance(value, type) and value.__module__ == module
    return is_ours and not value.__name__.startswith("_")


def main(site: Path) -> int:
    known = documented(site / "objects.inv")
    missing = [f"the reference lacks {name}" for name in public_names() if name not in known]
    problems = [*broken(site), *loading_styles(site), *missing]
    pages = len(list(site.rglob("*.html")))
    fine = (
        f"{site}: {pages} pages, links lead somewhere, {len(known)} names, nothing from a network"
    )
    print(*problems or [fine], sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
