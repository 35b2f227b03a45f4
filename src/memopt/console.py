"""Where the commands begin: Ctrl-C is caught before what takes half a second to be imported, and
`--version` alone imports none of it."""

import sys
from importlib import import_module

from memopt.text.usage import answering, staying, version_line


def memopt() -> int:
    """`memopt`. Returns the exit code."""
    return _main("memopt", "memopt.cli")


def memopt_opt() -> int:
    """`memopt-opt`. Returns the exit code."""
    return _main("memopt-opt", "memopt.cli.opt")


def _main(program: str, module: str) -> int:
    with answering(program) as answer:
        if sys.argv[1:] == ["--version"]:
            print(version_line())
            return answer.code
        with staying():
            command = import_module(module)
        answer.code = command.main()
    return answer.code
