"""The commands of the installed package, before they are imported."""

from importlib.metadata import entry_points

import pytest


@pytest.mark.parametrize("name", ["memopt", "memopt-opt"])
def test_ctrl_c_while_the_command_is_imported(
    name: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    def interrupted(_: str) -> object:
        raise KeyboardInterrupt

    (script,) = entry_points(group="console_scripts", name=name)
    monkeypatch.setattr("memopt.console.import_module", interrupted)
    assert script.load()() == 130
    assert capsys.readouterr().err == f"{name}: interrupted\n"
