"""Configuration of Sphinx: `python -m sphinx -W -b html docs build/docs`."""

import os
import sys
from pathlib import Path

os.environ.setdefault("OMP_NUM_THREADS", "1")
os.environ.setdefault("OPENBLAS_NUM_THREADS", "1")
HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext")]

import pucli  # noqa: E402

project = "pucli"
author = "The pucli maintainers"
copyright = "the pucli maintainers"
version = release = pucli.__version__

extensions = [
    "generated_pages",
    "real_output",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "numpydoc",
    "myst_parser",
    "sphinx_gallery.gen_gallery",
]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
exclude_patterns = ["_ext"]
default_role = "code"
smartquotes = False
myst_enable_extensions = ["deflist", "dollarmath", "colon_fence"]
myst_heading_anchors = 3

autosummary_generate = True
autodoc_typehints = "none"
autodoc_member_order = "bysource"
autodoc_preserve_defaults = True
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": str(HERE.parent / "examples" / "gallery"),
    "gallery_dirs": "gallery",
    "filename_pattern": r"\.py$",
    "download_all_examples": False,
    "min_reported_time": 1000,
    "show_memory": False,
    "write_computation_times": False,
    "abort_on_example_error": True,
    "within_subsection_order": "FileNameSortKey",
    "copyfile_regex": r"$^",
    "reset_modules": ("matplotlib", "seaborn", "figure_style.apply"),
    "capture_repr": ("_repr_html_",),
}

html_theme = "pydata_sphinx_theme"
html_title = "pucli"
html_static_path = ["_static"]
html_css_files = ["pucli.css"]
html_js_files = ["pucli.js"]
html_theme_options = {
    "navigation_with_keys": False,
    "show_prev_next": False,
    "navbar_align": "left",
    "secondary_sidebar_items": ["page-toc"],
}
html_sidebars = {name: [] for name in ("install", "troubleshooting")}  # pages of no section
html_show_sourcelink = False
