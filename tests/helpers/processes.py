"""Other processes, as tests see them end."""

import time
from pathlib import Path

HANG = 120  # seconds after which a test has failed, on any machine


def gone(pid: int) -> bool:
    """Whether the process ends, or has ended and nobody asked how, before the test has failed."""
    end = time.monotonic() + HANG
    while time.monotonic() < end:
        try:
            if Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] == "Z":
                return True
        except (FileNotFoundError, ProcessLookupError):
            return True
        time.sleep(0.05)
    return False
