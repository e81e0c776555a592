"""Check the pages: every relative link resolves, the Python examples run.

Blocks of one page are one story, sharing their names; one that starts with ```python not-run
is only read. `check_site.py` checks what is built of the pages.
"""

import contextlib
import io
import os
import re
import sys
import tempfile
import traceback
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
FENCE = re.compile(r"^```(\w*)([^\n]*)\n(.*?)^```", re.MULTILINE | re.DOTALL)
LINK = re.compile(r"\[[^\]]*\]\(([^)\s]+)[^)]*\)")
HEADING = re.compile(r"^#+ +(.+?) *$", re.MULTILINE)


def pages() -> list[Path]:
    """Every page that was written by hand."""
    return sorted([*ROOT.glob("*.md"), *ROOT.glob("docs/**/*.md")])


def prose(page: Path) -> str:
    """The text of a page without its code, where brackets mean something else."""
    return re.sub(r"`[^`\n]*`", "code", FENCE.sub("", page.read_text()))


def anchors(page: Path) -> set[str]:
    """The names under which the headings of a page can be linked to."""
    headings = HEADING.findall(FENCE.sub("", page.read_text()))
    return {re.sub(r"[^\w\- ]", "", heading.lower()).replace(" ", "-") for heading in headings}


def broken_links(page: Path) -> list[str]:
    """The relative links of a page that lead nowhere."""
    broken = []
    for link in LINK.findall(prose(page)):
        if re.match(r"[a-z]+:", link):
            continue
        name, _, anchor = link.partition("#")
        target = page.parent / name if name else page
        if not target.exists() or (anchor and anchor not in anchors(target)):
            broken.append(f"{page.relative_to(ROOT)}: {link} leads nowhere")
    return broken


@contextlib.contextmanager
def scratch_directory() -> Iterator[None]:
    """Work in a new directory, for examples that write files."""
    before = Path.cwd()
    with tempfile.TemporaryDirectory() as folder:
        os.chdir(folder)
        try:
            yield
        finally:
            os.chdir(before)


def failing_examples(page: Path) -> list[str]:
    """Run the Python blocks of a page in order, as one story sharing its names."""
    names: dict[str, object] = {"__name__": "__main__"}
    text = page.read_text()
    for block in FENCE.finditer(text):
        if block[1] != "python" or block[2].strip() == "not-run":
            continue
        # Blank lines in front make the line numbers of the traceback those of the page.
        source = "\n" * (text.count("\n", 0, block.start()) + 1) + block[3]
        try:
            with contextlib.redirect_stdout(io.StringIO()):  # what it prints is for readers
                exec(compile(source, str(page), "exec"), names)
        except Exception:
            return [f"{page.relative_to(ROOT)}: an example fails\n{traceback.format_exc()}"]
    return []


def main() -> int:
    found = pages()
    stories = [page for page in found if "```python" in page.read_text()]
    problems = [problem for page in found for problem in broken_links(page)]
    for page in stories:
        with scratch_directory():
            problems += failing_examples(page)
    fine = f"{len(found)} pages: links resolve; the examples of {len(stories)} run"
    print(*problems or [fine], sep="\n")
    return bool(problems)


if __name__ == "__main__":
    sys.exit(main())
