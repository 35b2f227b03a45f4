"""By how much two arrays of the same tensor differ."""

from dataclasses import dataclass

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import Array
from memopt.validate.stored import Stored

CLOSE = 1e-5  # of the largest magnitude: what float32 loses where sums have another order


@dataclass(frozen=True)
class Difference:
    """Elements of a tensor that differ, and by how much. `cosine` is None where one of the two
    arrays is zero everywhere."""

    name: str
    elements: int
    different: int
    max_abs: float
    mean_abs: float
    rmse: float
    mae: float
    cosine: float | None


def difference(tensor: Stored, ours: Array, theirs: Array) -> Difference:
    """Return the difference of stored arrays: integers differ if they are not equal, reals if by
    more than CLOSE of the largest magnitude. `max_abs` and `mean_abs` are in steps of the stored
    type, `rmse` and `mae` in its real numbers."""
    a, b = ours.astype(np.float64), theirs.astype(np.float64)
    apart = np.abs(a - b)
    apart = np.where(np.isnan(a) & np.isnan(b) | (a == b), 0.0, apart)
    real = np.abs(tensor.scale or 1.0) * apart
    return Difference(
        tensor.name,
        a.size,
        int(is_different(ours, theirs).sum()),
        float(apart.max(initial=0)),
        float(apart.mean()) if a.size else 0.0,
        float(np.sqrt((real**2).mean())) if a.size else 0.0,
        float(real.mean()) if a.size else 0.0,
        cosine(tensor.reals(ours), tensor.reals(theirs)),
    )


def is_different(ours: Array, theirs: Array) -> Array:
    """Return per element whether two stored arrays differ."""
    if ours.dtype.kind != "f":
        return ours != theirs
    largest = float(
        np.abs(theirs, where=np.isfinite(theirs), out=np.zeros_like(theirs)).max(initial=0)
    )
    both = np.isnan(ours) & np.isnan(theirs)
    with np.errstate(invalid="ignore"):
        near = (ours == theirs) | (np.abs(ours - theirs) <= CLOSE * max(largest, 1e-6))
    return ~(near | both)


def cosine(a: Array, b: Array) -> float | None:
    """Return the cosine of the angle between two arrays; None if one of them is zero."""
    x, y = a.ravel(), b.ravel()
    lengths = float(np.linalg.norm(x) * np.linalg.norm(y))
    return None if not lengths or not np.isfinite(lengths) else float(x @ y) / lengths


def classes(output: Array) -> Array:
    """Return the class of each sample [samples, ...]: the place of the largest element, or of one
    element whether it is more than a half."""
    flat = output.reshape(len(output), -1)
    return (flat[:, 0] > 0.5).astype(np.int64) if flat.shape[1] == 1 else flat.argmax(axis=1)


def accuracy(output: Array, labels: Array) -> float:
    """Return the share of samples whose class is that of the label."""
    return float((classes(output) == class_labels(labels)).mean())


def class_labels(labels: Array) -> Array:
    """Return labels as numbers of classes, also of those that mark one place of several."""
    flat = labels.reshape(len(labels), -1)
    return flat[:, 0].astype(np.int64) if flat.shape[1] == 1 else flat.argmax(axis=1)


def confusion(output: Array, labels: Array) -> list[list[int]]:
    """Return how many samples of each label (row) were taken for each class (column)."""
    given, known = classes(output), class_labels(labels)
    count = int(max(given.max(initial=0), known.max(initial=0))) + 1
    table = np.zeros((count, count), np.int64)
    np.add.at(table, (known, given), 1)
    return table.tolist()


def is_classes(labels: Array) -> bool:
    """Return whether labels name classes: one whole number, not negative, per sample."""
    flat = labels.reshape(len(labels), -1)
    if not bool((flat == np.rint(flat)).all()) or not bool((flat >= 0).all()):
        return False
    return flat.shape[1] == 1 or bool((flat.sum(axis=1) == 1).all())


def errors(output: Array, labels: Array) -> tuple[float, float]:
    """Return RMSE and MAE of real outputs against labels of as many elements."""
    apart = np.abs(output.reshape(len(output), -1) - labels.reshape(len(labels), -1))
    return float(np.sqrt((apart**2).mean())), float(apart.mean())
