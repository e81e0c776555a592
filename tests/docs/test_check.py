"""The check of the pages finds what is wrong with a page, and the pages have no broken link."""

import check
import pytest


@pytest.fixture
def page(tmp_path, monkeypatch):
    """Write a page beside another one and return its path."""
    monkeypatch.setattr(check, "ROOT", tmp_path)
    (tmp_path / "other.md").write_text("# Other\n\n## A b-c (d)\n")

    def write(text):
        path = tmp_path / "page.md"
        path.write_text(text)
        return path

    return write


def test_links_that_lead_somewhere(page):
    text = "# Page\n[a](other.md) [b](other.md#a-b-c-d) [c](#page) [d](https://no.such.host)\n"
    assert check.broken_links(page(text)) == []


@pytest.mark.parametrize("link", ["nowhere.md", "other.md#nowhere", "#nowhere"])
def test_links_that_lead_nowhere(page, link):
    assert check.broken_links(page(f"# Page\n[a]({link})\n")) == [f"page.md: {link} leads nowhere"]


def test_links_in_code_are_none(page):
    assert check.broken_links(page("`[a](nowhere.md)`\n```python\nx = [a](b)\n```\n")) == []


def test_blocks_share_their_names_and_run_in_order(page):
    assert check.failing_examples(page("```python\nx = 1\n```\n\n```python\nx += 1\n```\n")) == []


def test_a_failing_block_is_told_with_its_line_in_the_page(page):
    (found,) = check.failing_examples(page("# Page\n\n```python\nx = 1\n1 / 0\n```\n"))
    assert found.startswith("page.md: an example fails")
    assert "line 5" in found
    assert "ZeroDivisionError" in found


def test_blocks_that_are_only_read(page):
    assert check.failing_examples(page("```python not-run\n1 / 0\n```\n```sh\nfalse\n```\n")) == []


@pytest.mark.parametrize("path", check.pages(), ids=lambda path: path.name)
def test_pages(path):
    assert check.broken_links(path) == []


def test_the_list_of_decisions_has_all_of_them():
    folder = check.ROOT / "docs" / "decisions"
    text = (folder / "index.md").read_text()
    assert [path.name for path in sorted(folder.glob("0*.md")) if path.name not in text] == []
