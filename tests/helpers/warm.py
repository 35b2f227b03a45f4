"""Commands that tests call hundreds of times, from a process that has imported them once.

    python tests/helpers/warm.py FOLDER    # until its standard input ends

The folder gets an executable of each command's name. It hands its arguments, working directory and
streams over to a fork of this process, and ends as that does: nothing is shared between two runs
but what is imported, and the seed of hashes, which a new process draws for each run of the tests.
"""

import atexit
import gc
import importlib
import os
import select
import socket
import subprocess
import sys
from collections.abc import Mapping
from importlib.metadata import entry_points
from pathlib import Path
from pkgutil import walk_packages
from typing import NoReturn

import memopt

COMMANDS = ("memopt", "memopt-opt", "filecheck")
OF_OTHERS = ("ortools.math_opt.python.mathopt",)  # that a command imports when it is asked for
CALLER = """#!{python} -IS
import _socket, os, struct, sys  # socket itself, and json, would take longer than all the rest
server = _socket.socket(_socket.AF_UNIX)
server.connect({path!r})
asked = os.fsencode("\\0".join([os.path.basename(sys.argv[0]), os.getcwd(), *sys.argv[1:]]))
streams = (_socket.SOL_SOCKET, _socket.SCM_RIGHTS, struct.pack("3i", 0, 1, 2))
server.sendmsg([len(asked).to_bytes(4, "little")], [streams])
server.sendall(asked)
status = server.recv(4)
sys.exit(int.from_bytes(status, "little") if status else "the process that runs commands is gone")
"""


def run(name: str, arguments: list[str]) -> int:
    """What the script of an installed command does, and the code with which it ends."""
    (command,) = entry_points(group="console_scripts", name=name)
    sys.argv = [name, *arguments]
    try:
        found = command.load()()
    except SystemExit as left:
        if isinstance(left.code, str):
            raise
        found = left.code
    return int(found or 0)


def end(code: int) -> NoReturn:
    """Of this process what Python itself does, except that it takes no module apart: of hundreds
    that are shared with other processes, that would take longer than most commands."""
    atexit._run_exitfuncs()  # pyright: ignore[reportPrivateUsage]
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(code)


def answer(connection: socket.socket) -> None:
    """One call, in a process of its own below this one, which tells how it ended."""
    size, streams, _, _ = socket.recv_fds(connection, 4, 3)
    with connection.makefile("rb") as asked:
        text = os.fsdecode(asked.read(int.from_bytes(size, "little")))
    name, folder, *arguments = text.split("\0")
    child = os.fork()
    if not child:
        connection.close()
        for number, stream in enumerate(streams):
            os.dup2(stream, number)
            os.close(stream)
        # made anew, as what is known of the old ones (a place in the file) is not true of these
        sys.stdin = open(0, closefd=False)  # noqa: SIM115
        sys.stdout = open(1, "w", closefd=False)  # noqa: SIM115
        sys.stderr = open(2, "w", buffering=1, errors="backslashreplace", closefd=False)  # noqa: SIM115
        os.chdir(folder)
        end(run(name, arguments))
    for stream in streams:
        os.close(stream)
    code = os.waitstatus_to_exitcode(os.waitpid(child, 0)[1])
    connection.sendall((code if code >= 0 else 128 - code).to_bytes(4, "little"))
    os._exit(0)


def serve(folder: Path) -> None:
    """Answers calls until its standard input ends."""
    path = str(folder / "socket")
    server = socket.socket(socket.AF_UNIX)
    server.bind(path)
    server.listen(64)
    for name in (*(m.name for m in walk_packages(memopt.__path__, "memopt.")), *OF_OTHERS):
        importlib.import_module(name)
    for name in COMMANDS:
        (command,) = entry_points(group="console_scripts", name=name)
        command.load()
        script = folder / name
        script.write_text(CALLER.format(python=sys.executable, path=path))
        script.chmod(0o755)
    gc.freeze()  # no fork looks through what is imported, neither at work nor at its end
    print("ready", flush=True)
    while server in select.select([server, sys.stdin], [], [])[0]:
        connection, _ = server.accept()
        if not os.fork():
            server.close()
            answer(connection)
        connection.close()
        while os.waitid(os.P_ALL, 0, os.WEXITED | os.WNOHANG) is not None:
            pass


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
