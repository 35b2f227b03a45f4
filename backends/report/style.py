"""Colours and type of picture and page, light and dark, as CSS."""

LIGHT = (
    ("page", "#ffffff"),
    ("card", "#f6f7f9"),
    ("ink", "#1b2330"),
    ("muted", "#5f6b7c"),
    ("grid", "#e4e8ee"),
    ("band", "#fdeeee"),
    ("alarm", "#c62f2b"),
    ("good", "#1a7f42"),
    ("activation", "#c3d3ec"),
    ("activation-peak", "#3f6fb5"),
    ("input", "#b5ddd0"),
    ("input-peak", "#1f7d68"),
    ("output", "#f2d3a6"),
    ("output-peak", "#ab5f0e"),
    ("scratch", "#d9d3e3"),
    ("scratch-peak", "#735f96"),
    ("on", "#1b2330"),
    ("on-peak", "#ffffff"),
)
DARK = (
    ("page", "#12161c"),
    ("card", "#1a2029"),
    ("ink", "#e5e9f0"),
    ("muted", "#98a3b5"),
    ("grid", "#29313d"),
    ("band", "#331d20"),
    ("alarm", "#ff7d75"),
    ("good", "#5ed083"),
    ("activation", "#2c4163"),
    ("activation-peak", "#7fabeb"),
    ("input", "#1c4a3f"),
    ("input-peak", "#5fcbae"),
    ("output", "#553c1d"),
    ("output-peak", "#e9ac5b"),
    ("scratch", "#3b3449"),
    ("scratch-peak", "#b3a1d3"),
    ("on", "#dfe5ee"),
    ("on-peak", "#10141a"),
)


# Of tensors in rows: neighbours in the network differ, and none is that of an input or an output.
HUES = (215, 345, 85, 270, 195, 55, 310)


def _variables(colours: tuple[tuple[str, str], ...]) -> str:
    return "".join(f"--{name}:{value};" for name, value in colours)


def colours(selector: str) -> str:
    """The palette as CSS variables on `selector`, by what the reader's system prefers."""
    return (
        f"{selector}{{color-scheme:light dark;{_variables(LIGHT)}}}\n"
        f"@media (prefers-color-scheme: dark){{{selector}{{{_variables(DARK)}}}}}\n"
    )


def row_colours(selector: str) -> str:
    """The palette of tensors in rows as CSS variables on `selector`: --h0 and --h0-peak to --h6."""

    def palette(usual: str, peak: str) -> str:
        of = ((f"h{k}", hue) for k, hue in enumerate(HUES))
        return "".join(f"--{n}:hsl({h},{usual});--{n}-peak:hsl({h},{peak});" for n, h in of)

    dark = palette("36%,29%", "68%,72%")
    return (
        f"{selector}{{{palette('52%,84%', '46%,44%')}}}\n"
        f"@media (prefers-color-scheme: dark){{{selector}{{{dark}}}}}\n"
    )


_NAMES = ("activation", "input", "output", "scratch", *(f"h{k}" for k in range(len(HUES))))

ROWS = (
    "".join(f".{n}{{--c:var(--{n});--cp:var(--{n}-peak)}}" for n in _NAMES)
    + """
.mo .activation rect{fill:var(--c)}
.mo .activation.p rect{fill:var(--cp)}
.c.activation{background:var(--c)}
.mo .b.rows rect{fill:var(--c);stroke-width:.4}
.mo .b.rows path{fill:var(--c)}
.mo .b.fine rect{stroke:var(--c);stroke-width:.3}
.mo .b.fine .p{stroke:var(--cp)}
.mo .b.rows .p{fill:var(--cp)}
.mo .b.rows text{fill:var(--on);paint-order:stroke;stroke:var(--c);stroke-width:6px;\
stroke-linejoin:round}
.mo .b.rows text.p{fill:var(--on-peak);stroke:var(--cp)}
.mo .b.rows:hover rect,.mo .b.rows.hot rect{stroke:var(--ink);stroke-width:.7}
.mo .b.rows rect:hover{stroke-width:2}
.panels.stack.rows .table{grid-column:1/-1}
.mo .calls path{fill:none;stroke:var(--cp)}
"""
)

DRAWING = """\
.mo{font:11px/1.3 system-ui,-apple-system,"Segoe UI",Roboto,sans-serif;\
font-variant-numeric:tabular-nums}
.mo text{fill:var(--muted)}
.mo .grid{stroke:var(--grid);stroke-width:1}
.mo .axis{stroke:var(--muted);stroke-width:1}
.mo .band{fill:var(--band)}
.mo .b rect{stroke:var(--page);stroke-width:1}
.mo .thin rect{stroke-width:.4}
.mo .b text{fill:var(--on);pointer-events:none}
.mo .b.p text{fill:var(--on-peak)}
.mo .b .size{opacity:.8}
.mo .activation rect{fill:var(--activation)}.mo .activation.p rect{fill:var(--activation-peak)}
.mo .input rect{fill:var(--input)}.mo .input.p rect{fill:var(--input-peak)}
.mo .output rect{fill:var(--output)}.mo .output.p rect{fill:var(--output-peak)}
.mo .scratch rect{fill:var(--scratch)}.mo .scratch.p rect{fill:var(--scratch-peak)}
.mo .b:hover rect,.mo .b.hot rect{stroke:var(--ink);stroke-width:2}
.mo .line{fill:none;stroke-width:1.5}
.mo .arena{stroke:var(--ink)}
.mo .peak{stroke:var(--alarm);stroke-dasharray:6 3}
.mo .bound{stroke:var(--good);stroke-dasharray:2 3}
.mo .name{font-weight:600}
.mo .name.arena{fill:var(--ink);stroke:none}
.mo .name.peak{fill:var(--alarm);stroke:none}
.mo .name.bound{fill:var(--good);stroke:none}
.mo .leader{stroke:var(--grid);fill:none}
.mo .load{fill:var(--muted);opacity:.55}
.mo .load.p{fill:var(--alarm);opacity:1}
.mo.net rect{fill:var(--card);stroke:var(--muted);stroke-width:.7}
.mo.net path{fill:none;stroke:var(--muted);stroke-width:1.2}
.mo.net text{fill:var(--ink);text-anchor:middle}
.mo.net .of{fill:var(--muted);font-size:9px}
"""
