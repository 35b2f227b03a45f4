"""Where the commands begin: Ctrl-C is caught before what takes half a second to be imported."""

from importlib import import_module

from memopt.text.usage import answering


def memopt() -> int:
    """`memopt`. Returns the exit code."""
    return _main("memopt", "memopt.cli")


def memopt_opt() -> int:
    """`memopt-opt`. Returns the exit code."""
    return _main("memopt-opt", "memopt.cli.opt")


def _main(program: str, module: str) -> int:
    with answering(program) as answer:
        answer.code = import_module(module).main()
    return answer.code
