"""How Sphinx makes the site: `make docs`."""

import os
import sys
from pathlib import Path

import bahsic

sys.path.insert(0, str(Path(__file__).parent / "_extensions"))

# Examples run in this process and in the workers that they start.
for _variable in ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_variable, "1")

project = "bahsic"
author = "The bahsic developers"
copyright = author  # noqa: A001 - Sphinx's name for it
version = release = bahsic.__version__

extensions = [
    "myst_parser",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
    "sphinxcontrib.bibtex",
    "mathml",
    "outside",
    "reports",
]
exclude_patterns = ["_build", "examples", "gallery/**/*.ipynb", "gallery/**/*.py", "gallery/**/*.md5"]
templates_path = ["_templates"]
# Single backticks in docstrings: a link where the name is documented, else code.
default_role = "py:obj"

nitpicky = True
nitpick_ignore_regex = [
    # Parameters, attributes, letters and expressions in backticks: code, and nothing to link to.
    ("py:obj", r"[^.]*|.*[ (\[].*"),
    # Their documentation is elsewhere, and the site is built without network.
    ("py:.*", r"(sklearn|scipy|numpy|matplotlib|mne|dask|pandas)\..*"),
    # What is not public is described in ARCHITECTURE.md.
    ("py:obj", r"bahsic\.engine(\..*)?"),
]

myst_enable_extensions = ["dollarmath", "amsmath", "attrs_inline"]
myst_heading_anchors = 3

bibtex_bibfiles = ["references.bib"]
bibtex_default_style = "plain"

autosummary_generate = True
python_maximum_signature_line_length = 80
autodoc_typehints = "none"  # numpydoc says the types
numpydoc_show_class_members = False  # the template lists them
numpydoc_class_members_toctree = False

sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "gallery",
    "within_subsection_order": "FileNameSortKey",
    "download_all_examples": False,
    "show_memory": False,
    "show_signature": False,
    "min_reported_time": 0,
    "write_computation_times": False,
    "remove_config_comments": True,
    "abort_on_example_error": True,
    "image_srcset": ["2x"],
    "capture_repr": ("_repr_html_",),
}
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

html_theme = "pydata_sphinx_theme"
html_title = f"bahsic {version}"
html_static_path = ["_static"]
html_css_files = ["bahsic.css"]
html_math_renderer = "mathml"
html_show_sourcelink = False
html_copy_source = False
html_extra_path = ["llms.txt"]
# Pages without others below them have nothing to navigate to.
_ALONE = ("start", "reports", "faq", "glossary", "contributing", "cite")
html_sidebars: dict[str, list[str]] = {page: [] for page in _ALONE}
html_theme_options = {
    "logo": {"text": "bahsic"},
    "header_links_before_dropdown": 7,
    "navbar_end": ["theme-switcher"],
    "navbar_persistent": ["search-button"],
    "secondary_sidebar_items": ["page-toc"],
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_prev_next": True,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
}
