"""The workers of a Dask cluster as an executor: `memopt sweep --dask ADDRESS`.

Dask runs again elsewhere what a worker had begun that died; workers may join at any time. Each
needs memopt installed. Distributed is imported here alone, when it is asked for.
"""

import time
from collections.abc import Callable, Generator
from concurrent.futures import Executor
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from memopt.dialects.memgraph.errors import MemoptError
from memopt.text.usage import UsageError

SECONDS = 10  # for the scheduler to answer
RECOUNT = 1.0  # seconds for which a number of workers is good enough: each costs a question
DEATHS = 10  # times that a task is begun anew, should it fail because a worker dies


@contextmanager
def dask_executor(address: str) -> Generator[Executor]:
    """The executor of the scheduler at `address`, tcp://10.0.0.1:8786. Raises UsageError without
    the package `distributed`, and MemoptError if nobody answers."""
    try:
        distributed: Any = import_module("distributed")
    except ImportError:
        raise UsageError("--dask needs a package: pip install 'memopt[dask]'") from None
    try:
        client = distributed.Client(address, timeout=SECONDS, set_as_default=False)
    except (OSError, TimeoutError, ValueError) as error:
        raise MemoptError(f"no Dask scheduler answers: {error}", address) from None
    try:
        executor: Any = client.get_executor(pure=False, retries=DEATHS)
        executor.workers = _counted(client)
        yield executor
    finally:
        client.close()


def _counted(client: Any) -> Callable[[], int]:
    """Return what says how many threads the workers have now, or had a moment ago."""
    count, good_until = 1, 0.0

    def workers() -> int:
        nonlocal count, good_until
        if time.monotonic() >= good_until:
            count = max(1, sum(client.nthreads().values()))
            good_until = time.monotonic() + RECOUNT
        return count

    return workers
