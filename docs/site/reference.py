# SPDX-FileCopyrightText: The LEAPP authors
# SPDX-License-Identifier: Apache-2.0
"""Pages of the reference that are made from the code, and the check that every public symbol is documented."""

from __future__ import annotations

import enum
import inspect
import re
import subprocess
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

ROOT = Path(__file__).resolve().parents[2]
XML = ROOT / "build/docs/xml"

PYTHON = {
    "session": (
        "Sessions and export",
        [
            "start",
            "stop",
            "compile_graph",
            "CompileResults",
            "NodeResult",
            "FunctionPatch",
            "TracedTensor",
            "ExportManager",
        ],
    ),
    "annotate": ("leapp.annotate", []),
    "semantics": (
        "What tensors mean",
        [
            "TensorSemantics",
            "TemporalAxis",
            "Axis",
            "AxisKind",
            "ExpressionFrame",
            "Kind",
            "InputKindEnum",
            "OutputKindEnum",
            "GraphConfigs",
        ],
    ),
    "quantities": ("A function for each kind of quantity", []),
    "runtime": (
        "Running bundles",
        ["InferenceManager", "Port", "NameMap", "Loop", "ChunkPlayer", "Recorder", "Reloader"],
    ),
    "signing": ("Signed bundles", ["keygen", "sign", "verify", "Signature"]),
    "errors": ("Exceptions", []),
}
CPP = {
    "runtime": ("leapp/runtime: running bundles", "runtime", ""),
    "capture": ("leapp/capture.h: exporting from C++", "", "capture.h"),
    "bundle": ("leapp/bundle: reading and signing bundles", "bundle", ""),
    "engine": ("leapp/engine: choosing an engine", "engine", ""),
    "base": ("leapp/base: results and tensors", "base", ""),
}
C_PAGE = ("leapp/leapp.h: the C interface", "leapp.h")
FROM_THE_CODE = """
## From the code

- [Python](python/index.md): every public name of the package `leapp`
- [C++](cpp/index.md): the public headers
- [C](c.md): `leapp/leapp.h`
- [leapp --help](command_line_help.md): what the command prints
"""
SHOWN = (
    "   :sections: briefdescription detaileddescription innerclass enum typedef func var define user-defined "
    "public-func public-static-func public-attrib public-static-attrib public-type"
)
# Members that C++ makes, or whose name says all there is to say.
SPECIAL = re.compile(r"^(~.*|operator.*|LEAPP_API|LEAPP_C|LEAPP_CONCAT.*|.*_INNER)$")


def write(folder: Path, command: Path) -> list[str]:
    """Writes the pages. Returns what is not documented."""
    problems = python_pages(folder / "python") + header_pages(folder)
    (folder / "command_line_help.md").write_text(help_page(command), encoding="utf-8")
    with (folder / "index.md").open("a", encoding="utf-8") as index:
        index.write(FROM_THE_CODE)
    return problems


# -- Python ------------------------------------------------------------------------------------------------------------


def python_pages(folder: Path) -> list[str]:
    import leapp

    folder.mkdir(parents=True)
    placed = {name for _, names in PYTHON.values() for name in names}
    errors = [
        name
        for name in leapp.__all__
        if inspect.isclass(getattr(leapp, name)) and issubclass(getattr(leapp, name), Exception)
    ]
    quantities = [
        name for name in leapp.__all__ if getattr(getattr(leapp, name), "__module__", "") == "leapp.quantities"
    ]
    problems = []
    rows = []
    for page, (title, names) in PYTHON.items():
        names = {"errors": errors, "quantities": quantities}.get(page, names)
        directives = [directive(name, getattr(leapp, name)) for name in names]
        if page == "annotate":
            directives = [".. automodule:: leapp.annotate\n   :no-members:\n"] + [
                f".. autofunction:: leapp.annotate.{name}\n" for name in leapp.annotate.__all__
            ]
            problems += [
                f"leapp.annotate.{name}: no docstring"
                for name in leapp.annotate.__all__
                if not inspect.getdoc(getattr(leapp.annotate, name))
            ]
        for name in names:
            problems += undocumented(f"leapp.{name}", getattr(leapp, name))
        text = "\n".join([f"# {title}", "", "```{eval-rst}", *directives, "```", ""])
        (folder / f"{page}.md").write_text(text, encoding="utf-8")
        shown = ", ".join(f"`{name}`" for name in (names or leapp.annotate.__all__))
        rows.append(f"| [{title}]({page}.md) | {shown} |")
    left = (
        set(leapp.__all__) - placed - set(errors) - set(quantities) - {"annotate", "__version__", "__config_version__"}
    )
    problems += [f"leapp.{name}: on no page of the reference (docs/site/reference.py)" for name in sorted(left)]
    intro = (
        "# Python\n\nEvery public name of the package `leapp`, from its docstring. `help(leapp.start)` shows the same "
        "text.\n\n"
    )
    table = "\n".join(["| page | names |", "|---|---|", *rows, ""])
    versions = (
        "\n`leapp.__version__` is the package's version, `leapp.__config_version__` that of the bundles it writes.\n"
    )
    (folder / "index.md").write_text(intro + table + versions + _tree(list(PYTHON)), encoding="utf-8")
    return problems


def directive(name: str, value: Any) -> str:
    if not inspect.isclass(value):
        return f".. autofunction:: leapp.{name}\n"
    lines = [f".. autoclass:: leapp.{name}", "   :members:"]
    if issubclass(value, enum.Enum):
        lines += ["   :undoc-members:"]
    return "\n".join([*lines, ""])


def undocumented(name: str, value: Any) -> list[str]:
    """The name, and its public members, without a docstring."""
    found = [] if (inspect.getdoc(value) or "").strip() else [f"{name}: no docstring"]
    if inspect.isclass(value) and not issubclass(value, enum.Enum):
        for member, item in vars(value).items():
            if member.startswith("_") or not (
                callable(item) or isinstance(item, (property, classmethod, staticmethod))
            ):
                continue
            if not (inspect.getdoc(getattr(value, member)) or "").strip():
                found.append(f"{name}.{member}: no docstring")
    return found


# -- C++ and C ---------------------------------------------------------------------------------------------------------


def header_pages(folder: Path) -> list[str]:
    (folder / "cpp").mkdir(parents=True)
    include = ROOT / "include/leapp"
    names = _doxygen_names()
    rows = []
    for page, (title, below, single) in CPP.items():
        headers = [include / single] if single else sorted((include / below).glob("*.h"))
        headers = [header for header in headers if header.name != "export.h"]
        parts = [f"# {title}", ""]
        for header in headers:
            path = header.relative_to(include.parent).as_posix()
            directives = (
                _symbols(path)
                if list(names.values()).count(names[path]) > 1
                else [f".. doxygenfile:: {names[path]}", SHOWN]
            )
            parts += [f"## {path}", "", *_opening(header), "```{eval-rst}", *directives, "```", ""]
        (folder / "cpp" / f"{page}.md").write_text("\n".join(parts), encoding="utf-8")
        rows.append(f"| [{title}]({page}.md) | {', '.join(f'`{header.name}`' for header in headers)} |")
    intro = (
        "# C++\n\nThe public headers below `include/leapp`, from their comments. Start with "
        "`leapp/runtime/pipeline.h` to run a bundle and with `leapp/capture.h` to export one.\n\n"
    )
    (folder / "cpp/index.md").write_text(
        intro + "\n".join(["| page | headers |", "|---|---|", *rows, ""]) + _tree(list(CPP)), encoding="utf-8"
    )
    title, name = C_PAGE
    parts = [
        f"# {title}",
        "",
        *_opening(include / name),
        "```{eval-rst}",
        f".. doxygenfile:: {names[f'leapp/{name}']}",
        SHOWN,
        "```",
        "",
    ]
    (folder / "c.md").write_text("\n".join(parts), encoding="utf-8")
    return undocumented_symbols()


def _doxygen_names() -> dict[str, str]:
    """What Doxygen calls each header: as little of its path as tells it from the others."""
    names = {}
    for file in XML.glob("*_8h.xml"):
        for compound in ElementTree.parse(file).getroot().iter("compounddef"):
            place = compound.find("location")
            if place is not None:
                names[place.attrib["file"]] = compound.findtext("compoundname", "")
    return names


def _symbols(path: str) -> list[str]:
    """A directive for each type of a header whose name, without its folder, another header has too."""
    found = []
    for file in sorted(XML.glob("*.xml")):
        for compound in ElementTree.parse(file).getroot().iter("compounddef"):
            kind, name = compound.get("kind"), compound.findtext("compoundname", "")
            if kind in ("struct", "class") and _is_in(compound, path):
                found.append(f".. doxygen{kind}:: {name}\n   :members:\n")
            if kind == "namespace":
                enums = [one for one in compound.iter("memberdef") if one.get("kind") == "enum" and _is_in(one, path)]
                found += [f".. doxygenenum:: {name}::{one.findtext('name')}\n" for one in enums]
    return found


def _is_in(element: ElementTree.Element, path: str) -> bool:
    place = element.find("location")
    return place is not None and place.get("file") == path


def _opening(header: Path) -> list[str]:
    """What a header says of itself before its first line of code, below the licence."""
    lines = []
    for line in header.read_text(encoding="utf-8").splitlines():
        if line and not line.startswith(("//", "/*", " *")):
            break
        lines.append(re.sub(r"^(///?|/\*| \*/?) ?", "", line))
    text = [line for line in lines if not line.startswith("SPDX-")]
    return [*text, ""] if any(text) else []


def undocumented_symbols() -> list[str]:
    """Types, functions, enumerations and macros without a comment of their own or of the group they stand in."""
    problems = []
    structs = {path.name for path in XML.glob("struct*.xml")}  # a C typedef of the same name says no more
    for file in sorted(XML.glob("*.xml")):
        for compound in ElementTree.parse(file).getroot().iter("compounddef"):
            kind, name = compound.get("kind"), compound.findtext("compoundname", "")
            if kind in ("dir", "page"):
                continue
            if kind in ("struct", "class") and not _text(compound) and not _covered(compound):
                problems.append(_problem(compound, name))
            for member in compound.iter("memberdef"):
                short = member.findtext("name", "")
                if (
                    member.get("prot") != "public"
                    or member.get("kind") == "variable"
                    or SPECIAL.match(short)
                    or short == name.rpartition("::")[2]
                ):
                    continue
                if member.get("kind") == "typedef" and f"struct{short.replace('_', '__')}.xml" in structs:
                    continue
                if not _text(member) and not _covered(member):
                    problems.append(_problem(member, f"{name}::{short}" if kind != "file" else short))
    return sorted(set(problems))


def _text(element: ElementTree.Element) -> str:
    parts = [element.find(part) for part in ("briefdescription", "detaileddescription")]
    return "".join("".join(part.itertext()) for part in parts if part is not None).strip()


def _covered(element: ElementTree.Element) -> bool:
    """Whether a comment stands above the declaration, or above the group of lines that it is in."""
    place = element.find("location")
    if place is None or place.get("file") is None:
        return True
    lines = (ROOT / "include" / place.attrib["file"]).read_text(encoding="utf-8").splitlines()
    if re.search(r"/\*|//", lines[int(place.attrib["line"]) - 1]):
        return True
    for line in reversed(lines[: int(place.attrib["line"]) - 1]):
        if not line.strip():
            return False
        if re.match(r"\s*(//|/\*|\*)", line) or re.search(r"(//|/\*)", line):
            return True
    return False


def _problem(element: ElementTree.Element, name: str) -> str:
    place = element.find("location")
    where = f"include/{place.attrib['file']}:{place.attrib['line']}" if place is not None else "?"
    return f"{where}: {name}: no comment"


# -- the command -------------------------------------------------------------------------------------------------------


def help_page(command: Path) -> str:
    """What `leapp --help` prints, for the command and each subcommand."""

    def printed(*arguments: str) -> str:
        return subprocess.run(
            [command, *arguments, "--help"], capture_output=True, text=True, check=True
        ).stdout.rstrip()

    top = printed()
    names = re.findall(r"^  ([a-z][a-z-]*) {2,}", top.partition("Subcommands:")[2], re.MULTILINE)
    parts = [
        "# leapp --help",
        "",
        "What the command prints, word for word. [Command line](command_line.md) explains it with examples.",
        "",
        "```text",
        top,
        "```",
        "",
    ]
    for name in names:
        parts += [f"## leapp {name}", "", "```text", printed(name), "```", ""]
    return "\n".join(parts)


def _tree(names: list[str]) -> str:
    return "\n".join(["", "```{toctree}", ":hidden:", "", *names, "```", ""])
