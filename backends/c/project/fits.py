"""Checks that stop a build whose RAM is smaller than the model's need."""


def fits(name: str, variables: bool) -> str:
    """Return the check in the header `<name>.h`: `<NAME>_RAM_BYTES`, if the user defines it, is
    held against the arena, what stays from one run to the next if there are `variables`, and
    `<NAME>_STACK_BYTES`, stack and static RAM of the program, if that is defined too."""
    upper = name.upper()
    stack = f"{upper}_STACK_BYTES"
    stays = f" + {upper}_VARIABLE_BYTES" if variables else ""
    need = f"{upper}_ARENA_BYTES{stays} + ({stack})"
    given = f"{upper}_RAM_BYTES"
    check = holds(
        f"{need} <= ({given})", f"{name}_needs_more_ram", f"{name} needs more RAM than {given}"
    )
    return (
        f"/* With {given} defined as what the model may take of your RAM, a build stops that\n"
        f" * needs more. {stack} is what stack and static RAM add: stack_bound and static_ram\n"
        " * of report.json. */\n"
        f"#ifdef {given}\n#ifndef {stack}\n#define {stack} 0u\n#endif\n{check}#endif\n"
    )


def holds(condition: str, name: str, text: str) -> str:
    """Return the lines that stop a build unless the condition holds, in each C and C++: with `text`
    where the language has a way to say it, else by a type of that name."""
    return (
        "#if defined(__cplusplus) && __cplusplus >= 201103L\n"
        f'static_assert({condition}, "{text}");\n'
        "#elif defined(__STDC_VERSION__) && __STDC_VERSION__ >= 201112L\n"
        f'_Static_assert({condition}, "{text}");\n'
        "#else\n"
        f"typedef char {name}[{condition} ? 1 : -1];\n"
        "#endif\n"
    )
