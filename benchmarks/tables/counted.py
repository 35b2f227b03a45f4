"""A command by a clock of the CPU: `python -m benchmarks.tables.counted --fuse net.json`.

It imports what the command does, and nothing that only the tables need.
"""

import sys
import time
from typing import Any

from memopt.solvers import clock
from memopt.solvers.programs import worker


def counted() -> None:
    """Run the command of this process by a clock of the CPU, which goes on where it waits."""
    waited, ask = [0.0], worker.ask

    def asking(*request: Any) -> Any:
        started = time.perf_counter()
        try:
            return ask(*request)
        finally:
            waited[0] += time.perf_counter() - started

    worker.ask = asking
    if sys.argv[1].startswith("-"):
        from memopt.cli.opt import main
    else:
        from memopt.cli import main
    with clock.reading(lambda: time.process_time() + waited[0]):
        sys.exit(main())


if __name__ == "__main__":
    counted()
