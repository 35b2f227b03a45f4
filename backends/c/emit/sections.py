"""Sections of a model's arrays, by the kind of what is in them.

    parse_sections("weights:.qspi@0x21000000,arena:.dtcm")
    # {"weights": ".qspi", "arena": ".dtcm"}, {".qspi": 0x21000000}

#define MEMOPT_WEIGHTS __attribute__((section(".qspi")))

MEMOPT_WEIGHTS static const int8_t op3_weights[1152] = {...};

A build that defines MEMOPT_WEIGHTS or MEMOPT_TABLES itself puts another attribute there. A linker
script of ours has an output section of each name, at its address if it has one; yours says where
they lie.
"""

import re
from collections.abc import Mapping

from memopt.backends.c.weights.storage import ArrayStorage
from memopt.dialects.memgraph.errors import nearest
from memopt.targets.core.target import Target

WEIGHTS, TABLES, ARENA = KINDS = ("weights", "tables", "arena")
CONSTANT = (WEIGHTS, TABLES)
NAME = re.compile(r"\.?[A-Za-z_][\w.]*", re.ASCII)
EXPECTED = "expected KIND:SECTION or KIND:SECTION@ADDRESS, such as weights:.qspi@0x90000000"
ALIGNMENT = 16  # of what lies in a section
# What compilers, start-up code or our linker script know under a name, beside constants.
TAKEN = re.compile(
    "text|data|bss|vectors|stack|init|fini|ctors|dtors|tdata|tbss|sdata|sbss|srodata|init_array|"
    "fini_array|eh_frame|comment|memopt|ARM|debug|note"
)


def storage_of(sections: str | None, has_check: bool, in_file: bool = False) -> ArrayStorage:
    """Return how arrays are written by the words of --section, by --check-weights and by
    --weights=file; weights in a section are checked too. Raises ValueError."""
    parsed, addresses = ({}, {}) if sections is None else parse_sections(sections)
    if in_file and WEIGHTS in parsed:
        raise ValueError("weights in a file are in no section of the program")
    is_checked = not in_file and (has_check or WEIGHTS in parsed)
    return ArrayStorage(parsed, is_checked, in_file, addresses)


def parse_sections(text: str) -> tuple[dict[str, str], dict[str, int]]:
    """Return kind -> section, and section -> address, of `KIND:SECTION[@ADDRESS],...`. Raises
    ValueError."""
    sections: dict[str, str] = {}
    addresses: dict[str, int] = {}
    for pair in text.split(","):
        kind, colon, name = pair.partition(":")
        if not colon:
            raise ValueError(EXPECTED)
        if kind not in KINDS:
            raise ValueError(f"{kind!r}{nearest(kind, KINDS)} is not one of: {', '.join(KINDS)}")
        if kind in sections:
            raise ValueError(f"{kind} has a section already, {sections[kind]}")
        name, has_address, at = name.partition("@")
        sections[kind] = _checked(kind, name)
        if has_address:
            address = _address(name, at)
            if addresses.setdefault(name, address) != address:
                raise ValueError(f"{name} has an address already, {addresses[name]:#010x}")
            for other in addresses:
                if other != name and addresses[other] == address:
                    raise ValueError(f"{other} and {name} both lie at {address:#010x}")
    arena = sections.get(ARENA)
    if arena is not None and arena in (sections.get(kind) for kind in CONSTANT):
        raise ValueError(f"{arena} cannot hold the arena and constants")
    return sections, addresses


def _address(name: str, text: str) -> int:
    """Return the address of a section. Raises ValueError."""
    if re.fullmatch(r"0x[0-9a-fA-F]{1,8}", text) is None or int(text, 16) % ALIGNMENT:
        raise ValueError(
            f"{text!r} is no address of {name}, a multiple of {ALIGNMENT} such as 0x90000000"
        )
    if name.startswith(".rodata"):
        raise ValueError(f"{name} lies among the other constants; take a name of your own")
    return int(text, 16)


def _checked(kind: str, name: str) -> str:
    first = name.removeprefix(".").partition(".")[0]
    if NAME.fullmatch(name) is None:
        raise ValueError(f"{name!r} is no name of a section, such as .qspi")
    if TAKEN.fullmatch(first) or (first == "rodata") > (kind in CONSTANT) or name == ".arena":
        raise ValueError(f"{name} is a section of other things; take a name of your own")
    return name


def attribute(section: str) -> str:
    """Return the attribute that puts an array into `section`."""
    return f'__attribute__((section("{section}")))'


def section_macros(text: str, sections: Mapping[str, str]) -> str:
    """Return `text` with the macros of constants, which are defined as nothing, as attributes."""
    for kind in CONSTANT:
        if kind in sections:
            empty = f"#define MEMOPT_{kind.upper()}\n"
            text = text.replace(empty, f"{empty.rstrip()} {attribute(sections[kind])}\n")
    return text


def output_sections(storage: ArrayStorage, target: Target) -> str:
    """Return the lines of a linker script for the names that it has not yet; what has an address is
    in none of the script's memories."""
    ram = target.memories[-1][0] if target.memories else ""
    lines = dict[str, str]()
    for kind, name in storage.sections.items():
        memory, loads = (target.constants, "") if kind in CONSTANT else (ram, "(NOLOAD) ")
        at, where = "", f" > {memory}"
        if name in storage.addresses:
            at, where = f"{storage.addresses[name]:#010x} ", ""
        places = f"{{ . = ALIGN({ALIGNMENT}); *({name} {name}.*) }}"
        lines[name] = f"  {name} {at}{loads}: {places}{where}\n"
    return "".join(line for name, line in lines.items() if name[:7] != ".rodata")
