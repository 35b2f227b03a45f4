"""The commands of the installed package, before they are imported and after they ran."""

import gc
from importlib.metadata import entry_points

import pytest

from memopt.text.usage import answering, staying


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


@pytest.mark.parametrize("collects", [True, False])
def test_python_collects_after_a_command_as_before_it(collects: bool) -> None:
    try:
        (gc.enable if collects else gc.disable)()
        with answering("memopt"):
            with staying():
                assert not gc.isenabled()
            assert gc.get_freeze_count() > 0
        assert (gc.isenabled(), gc.get_freeze_count()) == (collects, 0)
    finally:
        gc.enable()
