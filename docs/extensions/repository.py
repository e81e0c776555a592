"""Pages and links as the repository has them.

A page links to what stands beside it in the repository, so that its links work there as well. Some
of these targets have another place on the site: `SECURITY.md` is the page `security`, a script of
`examples/` is its page in the gallery, a folder is its index.
"""

import os
import re
from pathlib import Path

from sphinx.application import Sphinx

DOCS = Path(__file__).resolve().parent.parent
ROOT = DOCS.parent

# Pages of the site whose text stands at the root of the repository; the file in docs/ only says so.
AT_THE_ROOT = {
    "changelog": ROOT / "CHANGELOG.md",
    "contributing": ROOT / "CONTRIBUTING.md",
    "security": ROOT / "SECURITY.md",
}
PAGE_OF = {path: DOCS / f"{name}.md" for name, path in AT_THE_ROOT.items()}
PAGE_OF[ROOT / "README.md"] = DOCS / "index.md"

# A link that is called by its file is called by the title of the page on the site.
BY_FILE = re.compile(r"\[[\w/.-]+\.md\](?=\()")
FENCE = re.compile(r"^(`{3,}).*?^\1", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"(?<=\]\()([^)\s#]+)(?=[)\s#])")


def on_site(target: Path) -> Path:
    """Where the site has what a link of the repository leads to."""
    if target in PAGE_OF:
        return PAGE_OF[target]
    if target.suffix == ".py" and target.is_relative_to(ROOT / "examples"):
        page = DOCS / "gallery" / target.relative_to(ROOT / "examples")
        return page.with_suffix(".rst")
    if target.is_dir() and target.is_relative_to(DOCS):
        return target / "index.md"
    return target


def rewrite(text: str, written: Path, shown: Path) -> str:
    """The text of a page with its links as the site needs them.

    Parameters
    ----------
    text : str
        A page in Markdown.
    written : Path
        The file that it was written in, from which its links are counted.
    shown : Path
        The file of the page on the site.
    """

    def moved(match: re.Match[str]) -> str:
        link = match[1]
        if re.match(r"[a-z]+:|/", link):
            return link
        target = on_site(Path(os.path.normpath(written.parent / link)))
        return os.path.relpath(target, shown.parent)

    def mended(prose: str) -> str:
        return LINK.sub(moved, BY_FILE.sub("[]", prose))

    parts, last = [], 0
    for fence in FENCE.finditer(text):
        parts += [mended(text[last : fence.start()]), fence[0]]
        last = fence.end()
    return "".join([*parts, mended(text[last:])])


def read(app: Sphinx, name: str, source: list[str]) -> None:
    """Take the text of a page from the root where it stands there, and mend its links."""
    shown = Path(app.env.doc2path(name))
    if shown.suffix != ".md":
        return
    written = AT_THE_ROOT.get(name, shown)
    if written != shown:
        app.env.note_dependency(str(written))
        source[0] = written.read_text()
    source[0] = rewrite(source[0], written, shown)


def setup(app: Sphinx) -> dict[str, bool]:
    app.connect("source-read", read)
    return {"parallel_read_safe": True, "parallel_write_safe": True}
