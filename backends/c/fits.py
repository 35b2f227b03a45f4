"""What stops a build whose RAM is smaller than what the model needs."""


def fits(name: str, variables: bool) -> str:
    """Of the header `<name>.h`: `<NAME>_RAM_BYTES`, if the user defines it, is held against the
    arena and, if there are `variables`, what stays from one run to the next."""
    upper = name.upper()
    need = f"{upper}_ARENA_BYTES" + (f" + {upper}_VARIABLE_BYTES" if variables else "")
    given = f"{upper}_RAM_BYTES"
    check = holds(
        f"{need} <= ({given})", f"{name}_needs_more_ram", f"{name} needs more RAM than {given}"
    )
    return (
        f"/* With {given} defined as what the model may take of your RAM, a build stops that\n"
        " * needs more. Stack and static RAM of your program are not in it: see report.json. */\n"
        f"#ifdef {given}\n{check}#endif\n"
    )


def holds(condition: str, name: str, text: str) -> str:
    """What stops a build unless the condition holds, in each C and C++: with `text` where the
    language has a way to say it, else by a type of that name."""
    return (
        "#if defined(__cplusplus) && __cplusplus >= 201103L\n"
        f'static_assert({condition}, "{text}");\n'
        "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
        f'_Static_assert({condition}, "{text}");\n'
        "#else\n"
        f"typedef char {name}[{condition} ? 1 : -1];\n"
        "#endif\n"
    )
