"""`memopt completion SHELL`: a script by which bash, zsh or fish complete commands and options."""

import argparse
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from memopt.cli import COMMANDS, build_parser
from memopt.cli.opt import build_parser as opt_parser
from memopt.compile.options import described
from memopt.text.usage import Parser

SHELLS = ("bash", "zsh", "fish")
EPILOG = """examples:
  memopt completion bash > ~/.local/share/bash-completion/completions/memopt
  source <(memopt completion zsh)                       in ~/.zshrc
  memopt completion fish > ~/.config/fish/completions/memopt.fish"""

BASH = """\
_@function@() {
  local cur=${COMP_WORDS[COMP_CWORD]} option=${COMP_WORDS[COMP_CWORD-1]} words= head=
  case $cur in
    =) cur= ;;
    --*=*) head=${cur%%=*}= option=${cur%%=*} cur=${cur#*=} ;;
    *) if [[ $option == = ]]; then option=${COMP_WORDS[COMP_CWORD-2]}; fi ;;
  esac
  case "@command@ $option" in
@values@    *) if [[ $cur == -* ]]; then
      case "@command@" in
@options@      esac
    @commands@fi ;;
  esac
  COMPREPLY=($(compgen -P "$head" -W "$words" -- "$cur"))
}
complete -o default -F _@function@ @program@
"""


@dataclass(frozen=True)
class Flag:
    """A long option of a command: whether a value follows, what it may be, and its help."""

    name: str
    takes_value: bool
    values: tuple[str, ...]
    text: str


@dataclass(frozen=True)
class Command:
    """A command with its options; that of `memopt-opt`, which has none, is called ""."""

    name: str
    text: str
    flags: tuple[Flag, ...]


def add_arguments(commands: Any) -> None:
    """The subcommand, on the subparsers of `memopt`."""
    parser: argparse.ArgumentParser = commands.add_parser(
        "completion",
        help="a script by which a shell completes commands and options",
        description="Print a script that completes commands, options and their values.",
        epilog=EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("shell", choices=SHELLS, metavar="SHELL", help=", ".join(SHELLS))


def run(args: argparse.Namespace) -> None:
    """Print the script."""
    print(script(args.shell), end="")


def script(shell: str) -> str:
    """Return the script of a shell for both programs."""
    programs = {"memopt": commands_of(), "memopt-opt": [Command("", "", _flags(opt_parser()))]}
    if shell == "fish":
        return "".join(line for name, given in programs.items() for line in _fish(name, given))
    begin = "autoload -U +X bashcompinit && bashcompinit\n" if shell == "zsh" else ""
    return begin + "".join(_bash(name, given) for name, given in programs.items())


def commands_of() -> list[Command]:
    """Return the commands of `memopt`."""
    parsers = build_parser(COMMANDS).commands()
    return [Command(name, text, _flags(parser)) for name, (text, parser) in parsers.items()]


def _flags(parser: Parser) -> tuple[Flag, ...]:
    """Return the long options of a parser, in their order."""
    named = {name: entry.names() for name, _, entry in described() if entry.names is not None}
    flags: list[Flag] = []
    for action in parser.actions():
        for option in action.option_strings:
            if option.startswith("--"):
                values = list(action.choices or named.get(action.dest, ()))
                text = (action.help or "").replace("%%", "%")
                flags.append(Flag(option, action.nargs != 0, tuple(map(str, values)), text))
    return tuple(flags)


def _bash(program: str, commands: Sequence[Command]) -> str:
    of_commands = bool(commands[0].name)
    values = options = ""
    for command in commands:
        for flag in command.flags:
            if flag.takes_value:
                key, words = f"{command.name} {flag.name}", " ".join(flag.values)
                values += f'    "{key}") words="{words}" ;;\n'
        names = " ".join(flag.name for flag in command.flags)
        options += f'        "{command.name}") words="{names}" ;;\n'
    names = " ".join(command.name for command in commands)
    first = f'elif ((COMP_CWORD == 1)); then words="{names}"; ' if of_commands else ""
    parts = {
        "function": program.replace("-", "_"),
        "program": program,
        "command": "${COMP_WORDS[1]}" if of_commands else "",
        "values": values,
        "options": options,
        "commands": first,
    }
    text = BASH
    for name, part in parts.items():
        text = text.replace(f"@{name}@", part)
    return text


def _fish(program: str, commands: Sequence[Command]) -> Iterator[str]:
    for command in commands:
        when = ""
        if command.name:
            yield (
                f"complete -c {program} -n __fish_use_subcommand -f -a {command.name} "
                f"-d {_quoted(command.text)}\n"
            )
            when = f" -n '__fish_seen_subcommand_from {command.name}'"
        for flag in command.flags:
            values = f" -x -a {_quoted(' '.join(flag.values))}" if flag.values else " -r"
            takes = values if flag.takes_value else ""
            about = _quoted(flag.text.split(";")[0])
            yield f"complete -c {program}{when} -l {flag.name[2:]}{takes} -d {about}\n"


def _quoted(text: str) -> str:
    """Return a text as one word of fish, in a line."""
    escaped = " ".join(text.split()).replace("\\", "\\\\").replace("'", "\\'")
    return f"'{escaped}'"
