"""How the documentation is built: `make docs`, opened from build/docs/index.html."""

from __future__ import annotations

import sys
from importlib.resources import files
from pathlib import Path

HERE = Path(__file__).parent
sys.path[:0] = [str(HERE / "_ext"), str(HERE.parent)]  # our directives, and the code they describe

from swiftcore import __version__  # noqa: E402

project = "SWIFT Phenotyping"
author = "the SWIFT Phenotyping authors"
copyright = f"2026, {author}"
release = version = __version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "swift_reference",
]
exclude_patterns = ["_ext", "_static"]

# Everything lies in the folder that was built: no web font, no script and no search excerpt is
# fetched, so that the pages open from a disk without a network.
html_theme = "furo"
html_title = project
html_static_path = ["_static", str(files("plotly") / "package_data" / "plotly.min.js")]
html_css_files = ["site.css"]
html_copy_source = False
html_show_search_summary = False

myst_heading_anchors = 3
nb_execution_mode = "force"
nb_execution_raise_on_error = True
nb_execution_timeout = 300

numpydoc_show_class_members = False  # autodoc lists them
autosummary_generate = False
autodoc_default_options = {
    "members": True,
    "member-order": "bysource",
    "exclude-members": "set_fit_request, set_transform_request",  # made by scikit-learn
}
autodoc_typehints = "none"  # docstrings name the types, in fewer words
