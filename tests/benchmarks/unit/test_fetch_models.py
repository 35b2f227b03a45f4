"""The public models are fetched by what models.toml says, and no other bytes are taken."""

import hashlib
import threading
from collections.abc import Generator
from functools import partial
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest
from benchmarks.fetch_models import LIST, Public, fetch, listed, main


def test_the_list_is_that_of_the_models(shared: Path) -> None:
    """Every model beside it, with the bytes that it has."""
    models = listed(LIST.read_text())
    assert set(models) == {path.name for path in (shared / "models").glob("*.tflite")}
    for name, model in models.items():
        assert model.fault((shared / "models" / name).read_bytes()) is None


def test_the_list_says_where_and_what() -> None:
    for model in listed(LIST.read_text()).values():
        assert model.repository.count("/") == 1 and len(model.sha256) == 64
        assert len(model.commit) >= 9 and not set(model.commit) - set("0123456789abcdef")
        assert model.url("https://x").startswith(f"https://x/{model.repository}/raw/")


@pytest.fixture
def server(tmp_path: Path) -> Generator[str]:
    """The address of files in `tmp_path/site`."""

    class Quiet(SimpleHTTPRequestHandler):
        def log_request(self, code: int | str = "-", size: int | str = "-") -> None:
            """Nothing on stderr."""

    (tmp_path / "site").mkdir()
    handler = partial(Quiet, directory=str(tmp_path / "site"))
    with ThreadingHTTPServer(("127.0.0.1", 0), handler) as http:
        thread = threading.Thread(target=http.serve_forever)
        thread.start()
        yield f"http://127.0.0.1:{http.server_address[1]}"
        http.shutdown()
        thread.join()


def public(data: bytes) -> Public:
    sha256 = hashlib.sha256(data).hexdigest()
    return Public("net.tflite", "owner/name", "0123abc", "a b/net.tflite", len(data), sha256)


def test_a_model_is_fetched_once(server: str, tmp_path: Path) -> None:
    file = tmp_path / "site/owner/name/raw/0123abc/a b/net.tflite"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"weights")
    model, folder = public(b"weights"), tmp_path / "models"
    assert fetch(model, folder, server) == "7 bytes"
    assert [path.name for path in folder.iterdir()] == ["net.tflite"]
    file.unlink()
    assert fetch(model, folder, server) == "there already"


def test_other_bytes_are_refused_and_not_written(server: str, tmp_path: Path) -> None:
    file = tmp_path / "site/owner/name/raw/0123abc/a b/net.tflite"
    file.parent.mkdir(parents=True)
    file.write_bytes(b"weightz")
    model, folder = public(b"weights"), tmp_path / "models"
    with pytest.raises(ValueError, match=f"7 bytes with SHA-256 .*, not 7 with {model.sha256}"):
        fetch(model, folder, server)
    assert not folder.exists()
    folder.mkdir()
    (folder / "net.tflite").write_bytes(b"mine")
    with pytest.raises(ValueError, match="is there with 4 bytes"):
        fetch(model, folder, server)
    assert (folder / "net.tflite").read_bytes() == b"mine"


def test_what_fails_is_named(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    def read(url: str) -> bytes:
        raise OSError("no network")

    assert main([str(tmp_path), "resnet8_int8.tflite"], read) == 1
    assert capsys.readouterr().err == "resnet8_int8.tflite: error: no network\n"
    with pytest.raises(SystemExit) as ended:
        main([str(tmp_path), "nobody.tflite"], read)
    assert ended.value.code == 2 and "nobody.tflite" in capsys.readouterr().err
