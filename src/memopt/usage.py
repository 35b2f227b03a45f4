"""How a wrong command line is answered: one line on stderr, exit code 2."""

import argparse
from typing import NoReturn


class Parser(argparse.ArgumentParser):
    """argparse with one line per error: the usage of a dozen options would hide it."""

    def error(self, message: str) -> NoReturn:
        self.exit(2, f"{self.prog}: error: {message}; see {self.prog} --help\n")
