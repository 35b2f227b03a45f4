"""The spinner on a terminal: only for what takes its time."""

import threading

import pytest

from memopt.text.progress import Spinner


def test_what_is_quick_shows_nothing(capsys: pytest.CaptureFixture[str]) -> None:
    before = threading.active_count()
    with Spinner("memgraph-schedule", delay=3600):
        pass
    assert threading.active_count() == before
    assert capsys.readouterr() == ("", "")


def test_what_takes_longer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    shown, said = threading.Event(), list[str]()

    class Status:
        def __enter__(self) -> "Status":
            shown.set()
            return self

        def __exit__(self, *_: object) -> None:
            said.append("cleared")

        def update(self, text: str) -> None:
            said.append(text)

    class Console:
        def __init__(self, stderr: bool) -> None:
            assert stderr  # stdout is for results

        def status(self, text: str) -> Status:
            said.append(text)
            return Status()

    monkeypatch.setattr("rich.console.Console", Console)
    with Spinner("memgraph-schedule", delay=0):
        assert shown.wait(60)
    assert (said[0], said[-1]) == ("memgraph-schedule", "cleared")
