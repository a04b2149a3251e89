# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Sphinx's settings. Sphinx reads build/docs/source, which docs/site/assemble.py makes from docs/ and the code."""

from __future__ import annotations

from pathlib import Path

_ROOT = Path(__file__).resolve().parents[2]

project = "LEAPP in C++"
author = "The LEAPP authors"
copyright = "The LEAPP authors, Apache-2.0"
version = release = (_ROOT / "VERSION").read_text(encoding="utf-8").strip()

extensions = ["myst_parser", "sphinx.ext.autodoc", "sphinx_copybutton", "breathe"]
myst_enable_extensions = ["colon_fence", "deflist"]
myst_heading_anchors = 4
# A typedef of a struct is a second declaration of its name to the C++ domain.
suppress_warnings = ["myst.header", "misc.highlighting_failure", "duplicate_declaration.cpp"]

breathe_projects = {"leapp": str(_ROOT / "build/docs/xml")}
breathe_default_project = "leapp"
breathe_show_include = False

autodoc_member_order = "bysource"
autodoc_typehints = "description"
autodoc_typehints_description_target = "all"
default_role = "code"

html_theme = "furo"
html_title = f"LEAPP in C++ {release}"
html_static_path = [str(_ROOT / "docs/site/static")]
html_css_files = ["leapp.css"]
html_copy_source = False
html_show_sphinx = False
html_theme_options = {"navigation_with_keys": True, "top_of_page_buttons": []}

copybutton_prompt_text = r"\$ |>>> |\.\.\. "
copybutton_prompt_is_regexp = True
copybutton_only_copy_prompt_lines = False
