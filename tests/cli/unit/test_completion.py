"""`memopt completion`: scripts for bash, zsh and fish have every command, option and value."""

import shutil
import subprocess
from pathlib import Path

import pytest

from memopt.cli import COMMANDS, main
from memopt.cli.commands.completion import commands_of
from memopt.targets.core.target import target_names

COMPLETE = """
source "$1"
COMP_WORDS=({words}) COMP_CWORD={last}
_{function}
printf '%s\\n' "${{COMPREPLY[@]}}"
"""


@pytest.fixture
def scripts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> dict[str, Path]:
    """The script of each shell as a file."""
    files: dict[str, Path] = {}
    for shell in ("bash", "zsh", "fish"):
        assert main(["completion", shell]) == 0
        files[shell] = tmp_path / shell
        files[shell].write_text(capsys.readouterr().out)
    return files


def completed(script: Path, *words: str, function: str = "memopt") -> set[str]:
    """Return what bash offers for the last of these words."""
    quoted = " ".join(f"'{word}'" for word in words)
    code = COMPLETE.format(words=quoted, last=len(words) - 1, function=function)
    done = subprocess.run(
        ["bash", "-c", code, "bash", str(script)], capture_output=True, text=True, check=True
    )
    assert not done.stderr
    return set(done.stdout.split())


def test_bash_completes_commands_options_and_values(scripts: dict[str, Path]) -> None:
    script = scripts["bash"]
    assert completed(script, "memopt", "") == set(COMMANDS)
    assert completed(script, "memopt", "co") == {"compare", "compile", "completion"}
    assert completed(script, "memopt", "compile", "--tar") == {"--target"}
    targets = {name for name in target_names("c", "tflite") if name.startswith("cortex-m3")}
    assert completed(script, "memopt", "compile", "--target", "=", "cortex-m3") == targets
    assert completed(script, "memopt", "compile", "--target", "=") >= targets
    assert completed(script, "memopt", "compile", "x", "--target=cortex-m3") == {
        f"--target={name}" for name in targets
    }
    assert "hill-climb" in completed(script, "memopt", "report", "--place", "hill")
    assert completed(script, "memopt", "compile", "net") == set()  # then files are offered
    opt = completed(script, "memopt-opt", "--list", function="memopt_opt")
    assert opt == {"--list-passes"}


def test_every_script_has_every_option(scripts: dict[str, Path]) -> None:
    texts = {shell: path.read_text() for shell, path in scripts.items()}
    for command in commands_of():
        assert command.text
        for flag in command.flags:
            begin = f"__fish_seen_subcommand_from {command.name}' -l {flag.name[2:]} "
            assert begin in texts["fish"] and flag.name in texts["bash"]
    assert texts["zsh"].endswith(texts["bash"]) and "bashcompinit" in texts["zsh"]


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_every_script_is_read_by_its_shell(shell: str, scripts: dict[str, Path]) -> None:
    if shutil.which(shell) is None:
        pytest.skip(f"needs {shell}")
    subprocess.run([shell, "-n", str(scripts[shell])], check=True, capture_output=True)
