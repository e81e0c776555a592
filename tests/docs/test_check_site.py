"""The check of the site finds links that lead nowhere, what comes from a network, missing names."""

import zlib

import check_site
import pytest


@pytest.fixture
def site(tmp_path):
    """Make a site of two pages, of which the second is given."""
    folder = tmp_path / "site"
    (folder / "part").mkdir(parents=True)
    (folder / "part" / "index.html").write_text('<a href="../page.html">up</a><h1 id="top"></h1>')

    def write(text):
        (folder / "page.html").write_text(text)
        return folder

    return write


@pytest.mark.parametrize(
    "text",
    [
        '<a href="part/index.html#top"></a>',
        '<a href="part/"></a>',
        '<a href="#here"></a><p id="here"></p>',
        '<a href="https://no.such.host"></a>',
        '<a href="mailto:nobody"></a>',
        '<link rel="canonical" href="https://no.such.host">',
        '<img src="data:image/png;base64,AA">',
    ],
)
def test_nothing_is_wrong(site, text):
    assert check_site.broken(site(text)) == []


@pytest.mark.parametrize("address", ["nowhere.html", "part/index.html#nowhere", "#nowhere"])
def test_links_that_lead_nowhere(site, address):
    found = check_site.broken(site(f'<a href="{address}"></a>'))
    assert found == [f"page.html: {address} leads nowhere"]


@pytest.mark.parametrize(
    "text",
    [
        '<script src="https://no.such.host/a.js"></script>',
        '<script src="//no.such.host/a.js"></script>',
        '<link rel="stylesheet" href="http://no.such.host/a.css">',
        '<img src="https://no.such.host/a.png">',
        '<iframe src="https://no.such.host"></iframe>',
    ],
)
def test_what_would_be_loaded_from_a_network(site, text):
    (found,) = check_site.broken(site(text))
    assert found.startswith("page.html: loads ")


def test_fonts_from_a_network(site):
    folder = site("")
    (folder / "a.css").write_text("@font-face { src: url(a.woff2) }")
    assert check_site.loading_styles(folder) == []
    (folder / "a.css").write_text('@font-face { src: url("https://no.such.host/a.woff2") }')
    assert check_site.loading_styles(folder) == ["a.css: loads from a network"]


def test_inventory(tmp_path):
    lines = b"mercer.SVC py:class 1 a.html#$ -\nstart std:doc -1 start.html Five minutes\n"
    head = b"# Sphinx inventory version 2\n# Project: mercer\n# Version: 1\n# zlib\n"
    (tmp_path / "objects.inv").write_bytes(head + zlib.compress(lines))
    assert check_site.documented(tmp_path / "objects.inv") == {"mercer.SVC"}


def test_public_names():
    names = check_site.public_names()
    expected = {"mercer.SVC", "mercer.kernels.Gaussian", "mercer.losses.Huber", "mercer.data.read"}
    assert expected <= set(names)
    assert "mercer.kernels" not in names  # a module, whose own names count
    assert "mercer.losses.check_loss" not in names


def test_names_that_are_missing_are_told(site, capsys, monkeypatch):
    folder = site("")
    (folder / "objects.inv").write_bytes(b"1\n2\n3\n4\n" + zlib.compress(b""))
    monkeypatch.setattr(check_site, "public_names", lambda: ["mercer.SVC"])
    assert check_site.main(folder) == 1
    assert capsys.readouterr().out == "the reference lacks mercer.SVC\n"
