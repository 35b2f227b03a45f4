"""The process of a reference runtime: `python -m memopt.validate.worker MODULE FOLDER`.

The job's arrays lie in the folder, its model and tensors come by stdin; the answer is left there.
"""

import json
import sys
from importlib import import_module
from pathlib import Path
from typing import Any

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.validate.job import ARRAYS, Job


def main() -> None:
    """Do the job."""
    module, folder = sys.argv[1], Path(sys.argv[2])
    question: dict[str, Any] = json.loads(sys.stdin.read())
    with np.load(folder / ARRAYS, allow_pickle=False) as content:
        inputs = [content[f"input_{k}"] for k in range(len(content.files))]
    job = Job(Path(question["model"]), inputs, question["tensors"])
    answer = import_module(module).run(job)
    keys = list(answer.tensors)
    arrays = {f"output_{k}": array for k, array in enumerate(answer.outputs)}
    arrays |= {f"tensor_{k}": answer.tensors[key] for k, key in enumerate(keys)}
    np.savez(folder / "answer.npz", allow_pickle=False, **arrays)
    (folder / "tensors.json").write_text(json.dumps(keys))


if __name__ == "__main__":
    try:
        main()
    except Exception as error:  # the last line is what is said of it
        sys.exit(f"{type(error).__name__}: {' '.join(str(error).split())}")
