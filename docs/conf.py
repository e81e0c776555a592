"""The site: the Markdown pages beside this file, the reference from docstrings, the gallery.

`make docs` builds it. Nothing is fetched from a network, neither here nor by the pages.
"""

import sys
from importlib.metadata import version as version_of
from pathlib import Path

HERE = Path(__file__).resolve().parent
sys.path.insert(0, str(HERE / "extensions"))

from members import Shown  # noqa: E402

project = "mercer"
author = "the mercer developers"
copyright = "the mercer developers; BSD-3-Clause"
version = release = version_of("mercer")

extensions = [
    "myst_parser",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "sphinx_design",
    "sphinx_gallery.gen_gallery",
    "formulas",
    "indices",
    "mathml",
    "repository",
]
exclude_patterns = ["templates", "gallery/**/GALLERY_HEADER.*", "gallery/**/README.*"]
templates_path = ["templates"]
default_role = "code"
smartquotes = False  # quotes are those of Python
nitpicky = True  # a link to a name that is not there is a warning, and so the end of the build

# Pages are Markdown as on GitHub: anchors of headings, formulas in fences called math.
myst_heading_anchors = 4
myst_fence_as_directive = ["math"]

# The reference: a page for each name, written by hand in groups, its text from the docstring.
autosummary_context = {"shown": Shown()}
autodoc_typehints = "none"  # the docstrings say it in words
autodoc_inherit_docstrings = True
numpydoc_show_class_members = False
maximum_signature_line_length = 88
python_use_unqualified_type_names = True
add_module_names = False

sphinx_gallery_conf = {
    "examples_dirs": "../examples",
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "doc_module": ("mercer",),
    "reference_url": {"mercer": None},
    "backreferences_dir": "gallery/backreferences",
    "copyfile_regex": r".*\.rst",
    "download_all_examples": False,
    "write_computation_times": False,  # its page would load scripts from a network
    "show_memory": False,
    "show_signature": False,
    "remove_config_comments": True,
}

html_math_renderer = "mathml"
html_theme = "pydata_sphinx_theme"
html_title = "mercer"
html_static_path = ["static"]
html_css_files = ["site.css"]
html_show_sphinx = False
html_copy_source = False
html_theme_options = {
    "logo": {"text": "mercer"},
    "navbar_end": ["theme-switcher"],
    "header_links_before_dropdown": 7,
    "show_toc_level": 2,
    "secondary_sidebar_items": {"**": ["page-toc"], "index": [], "lectures": []},
    "footer_start": ["copyright"],
    "footer_end": [],
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
html_sidebars = {"index": []}
