"""Pages of the site that are not files of docs/: the README and the like, and the API."""

import re
from pathlib import Path
from typing import Any

from mkdocs.structure.files import File, Files

import memopt

# The theme's cells are one line each, so that tables of sentences have to be scrolled; and where
# they are not, a telephone has no room for the sentences beside long options.
STYLE = """\
.wy-table-responsive table td, .wy-table-responsive table th { white-space: normal; }
@media (max-width: 768px) {
  .rst-content .wy-table-responsive table.docutils td,
  .rst-content .wy-table-responsive table.docutils th { padding: 6px 7px; }
  .wy-table-responsive td:first-child code { overflow-wrap: anywhere; white-space: normal; }
  .wy-table-responsive td:nth-last-child(3):first-child { min-width: 96px; }
  .wy-table-responsive td:nth-child(3):last-child { min-width: 160px; }
}
"""
OUTSIDE = {
    "project.md": "README.md",
    "changelog.md": "CHANGELOG.md",
    "contributing.md": "CONTRIBUTING.md",
}


def on_files(files: Files, *, config: Any) -> Files:
    """Add the pages beside docs/, and reference/api.md, which names what `memopt` exports."""
    for page, name in OUTSIDE.items():
        text = Path(name).read_text(encoding="utf-8")
        text = text.replace("](docs/", "](")
        for other, linked in OUTSIDE.items():
            text = text.replace(f"]({linked})", f"]({other})")
        files.append(File.generated(config, page, content=text))
    files.append(File.generated(config, "site.css", content=STYLE))
    files.append(File.generated(config, "reference/api.md", content=reference()))
    return files


def reference() -> str:
    """A page that mkdocstrings fills, a heading for each public name that has a definition."""
    lines = [
        "# Python API",
        "",
        "What `import memopt` has; [python.md](../guides/python.md) shows its use.",
        "",
    ]
    for name in memopt.__all__:
        found = getattr(memopt, name)
        if isinstance(getattr(found, "__qualname__", None), str):
            lines += [f"::: {found.__module__}.{found.__qualname__}", ""]
    return "\n".join(lines)


def on_page_markdown(markdown: str, **_: Any) -> str:
    """Links to the README lead to its page; folders have none. In the code of a table mkdocs takes
    a pipe as it is, which GitHub wants escaped."""
    markdown = re.sub(r"`[^`\n]*`", lambda code: code[0].replace(r"\|", "|"), markdown)
    markdown = re.sub(r"\[(\w+/)\]\(\w+\)", r"`\1`", markdown)
    return re.sub(r"\]\(((?:\.\./)*)\.\./README\.md\)", r"](\1project.md)", markdown)
