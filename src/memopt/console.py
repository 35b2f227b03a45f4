"""Where the commands begin: Ctrl-C is caught before what takes half a second to be imported."""

from importlib import import_module

from memopt.text.usage import exit_code


def memopt() -> int:
    """`memopt`. Returns the exit code."""
    return _main("memopt", "memopt.cli")


def memopt_opt() -> int:
    """`memopt-opt`. Returns the exit code."""
    return _main("memopt-opt", "memopt.cli.opt")


def _main(program: str, module: str) -> int:
    return exit_code(program, lambda: import_module(module).main())
