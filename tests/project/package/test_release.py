"""The files of a release agree: versions, addresses, packages, and what a form asks for."""

import json
import re
import tomllib
from importlib import import_module
from typing import Any

import pytest
from places import ROOT

pytestmark = pytest.mark.quick

PROJECT: dict[str, Any] = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]


def read(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def test_the_version_is_one() -> None:
    """setup.py before the first tag, the changelog and the citation say the same."""
    (first,) = re.findall(r'^FIRST = "([\d.]+)"', read("setup.py"), re.MULTILINE)
    newest, *_ = re.findall(r"^## ([\d.]+)$", read("CHANGELOG.md"), re.MULTILINE)
    (cited,) = re.findall(r"^version: ([\d.]+)$", read("CITATION.cff"), re.MULTILINE)
    assert first == newest == cited


def test_the_address_is_one() -> None:
    urls = PROJECT["urls"]
    assert {"Documentation", "Source", "Issues", "Changelog"} <= set(urls)
    assert all(url.startswith(urls["Source"]) for url in urls.values())
    assert f'repository-code: "{urls["Source"]}"' in read("CITATION.cff")
    assert f"license: {PROJECT['license']}\n" in read("CITATION.cff")


def test_images_have_the_packages_that_the_script_knows() -> None:
    groups = set(re.findall(r"^        (\w+)\)", read(".ci/packages"), re.MULTILINE))
    image = re.findall(r"memopt-packages ((?:\w+ ?)+)&&", read("Dockerfile"))
    container = json.loads(read(".devcontainer/devcontainer.json"))["postCreateCommand"]
    assert [set(one.split()) for one in image] == [{"build", "arm", "riscv"}]
    assert set(re.findall(r"packages ([\w ]+) &&", container)[0].split()) == groups
    (lowest,) = re.findall(r">=([\d.]+)", PROJECT["requires-python"])
    assert re.findall(r"^FROM python:([\d.]+)-", read("Dockerfile"), re.MULTILINE) == [lowest] * 2


@pytest.mark.parametrize("form", ["wrong.yml", "wanted.yml", "config.yml"])
def test_forms_are_forms(form: str) -> None:
    pytest.importorskip("yaml", reason="needs PyYAML")
    yaml: Any = import_module("yaml")
    content = yaml.safe_load(read(f".github/ISSUE_TEMPLATE/{form}"))
    if form != "config.yml":
        assert {"name", "description", "body"} <= set(content)
        for field in content["body"]:
            assert (
                field["type"] in ("input", "textarea", "dropdown") and field["attributes"]["label"]
            )
        assert len({field["id"] for field in content["body"]}) == len(content["body"])
