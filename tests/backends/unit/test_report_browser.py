"""The page in a real browser: what its DOM holds once it is loaded, and after a pointer moved."""

import os
import shutil
import subprocess
from pathlib import Path

import pytest

from memopt.backends.report import Rect, Step, Timeline, report_html

CHROMIUM = shutil.which("chromium") or shutil.which("chromium-browser")

PROBE = """<script>
document.querySelector('g[data-b="1-2"] rect').dispatchEvent(
  new MouseEvent("mouseover", {bubbles: true}));
var hot = document.querySelectorAll("tr.hot");
document.documentElement.setAttribute("data-hot-rows", hot.length);
document.documentElement.setAttribute("data-hot-chips",
  document.querySelectorAll(".c.hot").length);
document.documentElement.setAttribute("data-boxes",
  Array.from(document.querySelectorAll("g[data-b] rect")).filter(
    function (r) { return r.getBoundingClientRect().width > 0; }).length);
</script>"""


def chain(count: int) -> Timeline:
    """Buffer i is live in steps i - 1 and i."""
    buffers = tuple(
        Rect(f"</script><b>{i}", 64, max(i - 1, 0), min(i + 1, count), 64 * (i % 2), "activation",
             str(i), 60)
        for i in range(count + 1)
    )  # fmt: skip
    steps = tuple(Step(f"t{i + 1}", "relu", 128, i + 1) for i in range(count))
    return Timeline("chain", steps, buffers, 128, 128, "flow", 128, 16)


def test_dom(tmp_path: Path) -> None:
    if CHROMIUM is None:
        pytest.skip("needs chromium")
    page = tmp_path / "page.html"
    text = report_html("chain", chain(10), chain(10))
    page.write_text(text.replace("</body>", f"{PROBE}</body>"), encoding="utf-8")
    done = subprocess.run(
        [
            CHROMIUM,
            "--headless",
            *(["--no-sandbox"] if os.geteuid() == 0 else []),
            "--disable-gpu",
            "--disable-quic",
            "--no-first-run",
            "--disable-background-networking",
            "--disable-component-update",
            "--disable-sync",
            f"--user-data-dir={tmp_path / 'profile'}",
            "--dump-dom",
            page.as_uri(),
        ],
        capture_output=True,
        text=True,
        timeout=120,
        check=True,
    )
    assert 'data-boxes="22"' in done.stdout  # 11 buffers, before and after, all drawn
    assert 'data-hot-rows="2"' in done.stdout  # buffer 2 is live in steps 1 and 2
    assert 'data-hot-chips="2"' in done.stdout
