"""Commands that tests call hundreds of times, from a process that has imported them once.

    python tests/helpers/warm.py FOLDER    # until its standard input ends

The folder gets an executable of each command's name. It hands its arguments, working directory and
streams over to a fork of this process, and ends as that does. Two runs share what is imported, what
one small plan at the start has made (tables that are kept once asked for), and the seed of hashes,
which a new process draws for each run of the tests.
"""

import atexit
import gc
import importlib
import os
import select
import socket
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import suppress
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn

import memopt

COMMANDS = ("memopt", "memopt-opt", "filecheck")
OF_OTHERS = ("ortools.math_opt.python.mathopt",)  # that a command imports when it is asked for
CALLER = Path(__file__).with_name("warm_caller.c")
EXAMPLE = Path(__file__).parents[2] / "docs/examples/branches.mlir"


def run(command: Callable[[], int | None], name: str, arguments: list[str]) -> int:
    """Do what the script of an installed command does; return the code with which it ends."""
    sys.argv = [name, *arguments]
    try:
        code = command()
    except SystemExit as left:
        if isinstance(left.code, str):
            raise
        code = left.code
    return int(code or 0)


def end(code: int) -> NoReturn:
    """Of this process what Python itself does, except that it takes no module apart: of hundreds
    that are shared with other processes, that would take longer than most commands."""
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def take_streams(streams: list[int]) -> None:
    """Make `streams` the standard ones of this process."""
    for number, stream in enumerate(streams):
        os.dup2(stream, number)
        os.close(stream)
    # made anew, as what is known of the old ones (a place in the file) is not true of these
    sys.stdin = open(0, closefd=False)  # noqa: SIM115
    sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
    sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115


def load() -> dict[str, Callable[[], int | None]]:
    """Import all that a command may import, and return the commands by name."""
    for name in (*(m.name for m in walk_packages(memopt.__path__, "memopt.")), *OF_OTHERS):
        importlib.import_module(name)
    scripts = entry_points(group="console_scripts")
    commands = {name: scripts[name].load() for name in COMMANDS}
    # once, for the tables that are made when they are first asked for
    steps = ["--rewrite=all", "--fuse", "--schedule=auto", "--place=auto", "--verify-plan"]
    steps += [str(EXAMPLE), "-o", os.devnull]
    assert not run(commands["memopt-opt"], "memopt-opt", steps)
    return commands


def serve(folder: Path) -> None:
    """Answer calls until the standard input ends, each in a fork of this process."""
    path = str(folder / "socket")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    commands = load()
    caller = folder / "caller"
    quoted = path.replace("\\", r"\\").replace('"', r"\"")
    subprocess.run(["gcc", "-O1", f'-DSERVER="{quoted}"', "-o", caller, CALLER], check=True)
    for name in COMMANDS:
        os.link(caller, folder / name)
    gc.freeze()  # no fork looks through what is imported, neither at work nor at its end
    print("ready", flush=True)
    running: dict[int, tuple[int, socket.socket]] = {}
    while sys.stdin not in (ready := select.select([server, sys.stdin, *running], [], [])[0]):
        for ended in running.keys() & set(ready):
            os.close(ended)
            process, connection = running.pop(ended)
            code = os.waitstatus_to_exitcode(os.waitpid(process, 0)[1])
            with connection, suppress(BrokenPipeError):  # a caller that was ended
                connection.sendall((code if code >= 0 else 128 - code).to_bytes(4, "little"))
        if server not in ready:
            continue
        connection, _ = server.accept()
        size, streams, _, _ = socket.recv_fds(connection, 4, 3)
        length = int.from_bytes(size, "little")
        with connection.makefile("rb") as request:
            data = request.read(length)
        if not data or len(data) < length:  # of a caller that was ended
            for descriptor in (*streams, connection.detach()):
                os.close(descriptor)
            continue
        name, directory, *arguments = os.fsdecode(data).split("\0")
        process = os.fork()
        if not process:
            for descriptor in (server.detach(), connection.detach(), *running):
                os.close(descriptor)
            take_streams(streams)
            os.chdir(directory)
            end(run(commands[name], name, arguments))
        for stream in streams:
            os.close(stream)
        running[os.pidfd_open(process)] = process, connection


def start(folder: Path, environment: Mapping[str, str]) -> None:
    """Such a process, until this one and its forks have ended, with all commands to call."""
    gone, here = os.pipe()  # no Python object closes `here`
    process = subprocess.Popen(
        [sys.executable, __file__, str(folder)],
        env=environment,
        stdin=gone,
        stdout=subprocess.PIPE,
    )
    os.close(gone)
    assert process.stdout is not None and process.stdout.readline() == b"ready\n", here


if __name__ == "__main__":
    serve(Path(sys.argv[1]))
