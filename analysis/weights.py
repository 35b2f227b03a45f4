"""Weights by reference: from `#memgraph.weights<"sha256", "key">` back to numpy arrays.

A module that refers to model files carries `memgraph.files = {"<sha256>" = "path"}`, paths
relative to the IR's own file. Keys are `subgraph/tensor` for .tflite, the tensor's name for .onnx.
The hash is checked whenever a file is used.
"""

import hashlib
import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from xdsl.dialects.builtin import (
    BFloat16Type,
    BytesAttr,
    DenseIntOrFPElementsAttr,
    DictionaryAttr,
    ModuleOp,
    StringAttr,
    TensorType,
)
from xdsl.dialects.func import FuncOp
from xdsl.ir import Attribute, Operation

from memopt.dialects.arithmetic.lazy_numpy import np
from memopt.dialects.arithmetic.stored import integer_type, numpy_dtype
from memopt.dialects.attributes.operators import WeightsAttr
from memopt.dialects.memgraph.errors import MemoptError
from memopt.dialects.memgraph.names import full_name, place_of
from memopt.dialects.memgraph.structure import ConstantOp
from memopt.dialects.memgraph.variables import VariableOp
from memopt.formats.onnx_weights import array_of, files_hash, named_tensors
from memopt.formats.tflite import Model, elements_of, read_model

if TYPE_CHECKING:
    from numpy.typing import NDArray
    from onnx import TensorProto

    Array = NDArray[Any]

FILES = "memgraph.files"


def files_of(module: ModuleOp) -> dict[str, str]:
    """SHA-256 -> path of the model files that `module` refers to."""
    entries = module.attributes.get(FILES)
    if not isinstance(entries, DictionaryAttr):
        return {}
    return {k: text_of(v) for k, v in entries.data.items() if isinstance(v, StringAttr | BytesAttr)}


def text_of(value: StringAttr | BytesAttr) -> str:
    """A string attribute's text: xDSL reads literals that are not ASCII back as bytes."""
    return value.data if isinstance(value, StringAttr) else value.data.decode("utf-8", "replace")


def refer_to(module: ModuleOp, sha256: str, path: str) -> None:
    """Record that `module` refers to the file at `path`."""
    entries = {k: StringAttr(v) for k, v in files_of(module).items()}
    entries[sha256] = StringAttr(path)
    module.attributes[FILES] = DictionaryAttr(cast("Mapping[str, Attribute]", entries))


@dataclass
class Weights:
    """Resolves references for one module.

    `folder` is where the IR's file is; `model_path` (from `--model-path`), a file or a folder,
    goes first. Files are read once. Every failure is a MemoptError that names the file.
    """

    files: dict[str, str]
    folder: Path = Path()
    model_path: Path | None = None
    _bytes: dict[str, bytes] = field(default_factory=dict[str, bytes])
    _models: dict[str, Model] = field(default_factory=dict[str, Model])
    _tensors: "dict[str, dict[str, TensorProto]]" = field(
        default_factory=dict[str, "dict[str, TensorProto]"]
    )

    @classmethod
    def of(cls, module: ModuleOp, folder: Path = Path(), model_path: Path | None = None):
        return cls(files_of(module), folder, model_path)

    @classmethod
    def holding(cls, data: bytes):
        """Return the weights of a module that was read from a model of these bytes, which may be in
        no file."""
        return cls({}, _bytes={hashlib.sha256(data).hexdigest(): data})

    def path(self, sha256: str) -> Path:
        """The file with this hash. Raises MemoptError if none of the candidates is there."""
        recorded = self.files.get(sha256)
        candidates: list[Path] = []
        if self.model_path is not None:
            given = self.model_path
            candidates = [given / Path(recorded).name if given.is_dir() and recorded else given]
        elif recorded is not None:
            candidates = [self.folder / recorded, Path(recorded)]
        else:
            raise MemoptError(f"the module names no file with SHA-256 {sha256}; use --model-path")
        for candidate in candidates:
            if candidate.is_file():
                return candidate
        raise MemoptError("no such file; say where it is with --model-path", str(candidates[0]))

    def data(self, sha256: str) -> bytes:
        """The bytes of the file with this hash, which is checked."""
        if sha256 not in self._bytes:
            path = self.path(sha256)
            try:
                data = path.read_bytes()
            except OSError as error:
                raise MemoptError(error.strerror or "cannot be read", str(path)) from None
            if _hash_of(data, path) != sha256:
                others = " with the files that its weights lie in" if b"location" in data else ""
                text = f"is not the model that was imported: not SHA-256 {sha256}{others}"
                raise MemoptError(text, str(path))
            self._bytes[sha256] = data
        return self._bytes[sha256]

    def array(self, op: Operation) -> "Array":
        """Return the elements of a constant, of ours or of another dialect, or those that a
        variable begins with, in its shape. Raises MemoptError with the place."""
        type_ = cast("TensorType[Attribute]", op.results[0].type)
        value = _elements(op)
        if not isinstance(value, WeightsAttr):
            try:
                return inline_array(cast("DenseIntOrFPElementsAttr[Any]", value))
            except MemoptError as error:
                raise MemoptError(error.text, place_of(op)) from None
        raw = self._raw(value)
        if isinstance(type_.element_type, BFloat16Type):  # exact as float32
            dtype, bits = np.dtype(np.float32), 16
            if isinstance(raw, bytes):
                raw = (np.frombuffer(raw, np.uint16).astype(np.uint32) << 16).view(dtype)
        else:
            dtype, bits = numpy_dtype(type_.element_type)
        if isinstance(raw, bytes):
            flat = unpack(raw, bits, type_.element_type) if bits < 8 else np.frombuffer(raw, dtype)
        elif raw.ndim == 0:  # a scalar, or what a ConstantOfShape repeats: never materialised
            return np.broadcast_to(raw.astype(dtype), type_.get_shape())
        else:
            flat = raw.reshape(-1).astype(dtype, copy=False)
        shape = type_.get_shape()
        count = 1
        for d in shape:
            count *= d
        if isinstance(raw, bytes) and bits < 8:
            flat = flat[:count]  # the last byte may be padded
        if flat.size != count:
            text = f"weights {value.key.data!r} have {flat.size} elements, {type_} needs {count}"
            raise MemoptError(text, place_of(op))
        return flat.reshape(shape)

    def _raw(self, value: WeightsAttr) -> "bytes | Array":
        sha256, key = value.sha256.data, value.key.data
        if sha256 in self._tensors:
            return self._onnx(sha256, key)
        data = self.data(sha256)
        if data[4:8] == b"TFL3":
            return self._tflite(sha256, data, key)
        self._read_onnx(sha256, data)
        del data, self._bytes[sha256]  # the tensors are a copy
        return self._onnx(sha256, key)

    def _tflite(self, sha256: str, data: bytes, key: str) -> bytes:
        place = self._place(sha256)
        if sha256 not in self._models:
            self._models[sha256] = read_model(data, place)
        model = self._models[sha256]
        subgraph, _, tensor = key.rpartition("/")
        try:
            stored = model.subgraphs[int(subgraph or 0)].tensors[int(tensor)]
        except (ValueError, IndexError):
            raise MemoptError(f"no tensor {key!r}", place) from None
        return elements_of(data, model, stored)

    def _read_onnx(self, sha256: str, data: bytes) -> None:
        import onnx

        try:
            self._tensors[sha256] = named_tensors(onnx.load_model_from_string(data))
        except Exception as error:  # protobuf's errors have no common class
            raise MemoptError(f"no model: {error}", self._place(sha256)) from None

    def _onnx(self, sha256: str, key: str) -> "Array":
        place = self._place(sha256)
        tensor = self._tensors[sha256].get(key)
        if tensor is None:
            raise MemoptError(f"no constant {key!r}", place)
        try:
            return array_of(tensor, str(Path(place).parent))
        except Exception as error:  # also external data that is missing
            raise MemoptError(f"constant {key!r}: {error}", place) from None

    def _place(self, sha256: str) -> str:
        """Return the path of a model file, or what messages call bytes that are in none."""
        known = sha256 in self.files or self.model_path is not None
        return str(self.path(sha256)) if known else "the bytes of a model"


def _hash_of(data: bytes, path: Path) -> str:
    """Return the SHA-256 of a model file, and of those that its weights lie in. Raises MemoptError,
    also for bytes that are no model."""
    if data[4:8] == b"TFL3":
        return hashlib.sha256(data).hexdigest()
    try:
        return files_hash(data, path.parent)
    except MemoptError as error:
        raise MemoptError(error.text, error.place or str(path)) from None
    except Exception as error:  # protobuf's errors have no common class
        raise MemoptError(f"no model: {error}", str(path)) from None


def weights_of(func: FuncOp) -> Weights:
    """Return the weights of the module that a function stands in; without one, of no file."""
    module = func.parent_op()
    return Weights.of(module) if isinstance(module, ModuleOp) else Weights({})


def _elements(op: Operation) -> Attribute | None:
    """Return the elements of a constant or variable as its attribute has them. Raises MemoptError
    for a constant of another dialect that has none of its type."""
    if isinstance(op, ConstantOp):
        return op.value
    if isinstance(op, VariableOp):
        return op.initial
    type_ = op.results[0].type
    for key in ("value", "values"):
        value = op.properties.get(key, op.attributes.get(key))
        if not isinstance(value, DenseIntOrFPElementsAttr) or not isinstance(type_, TensorType):
            continue
        mine, wanted = cast("Any", value), cast("TensorType[Attribute]", type_)
        if (
            mine.get_shape() == wanted.get_shape()
            and mine.get_element_type() == wanted.element_type
        ):
            return mine
    raise MemoptError(f"{full_name(op)} has no dense elements of type {type_}", place_of(op))


def inline_array(value: "DenseIntOrFPElementsAttr[Any]") -> "Array":
    """The elements of an inline constant, a splat expanded."""
    type_ = cast("TensorType[Attribute]", value.type)
    dtype, _ = numpy_dtype(type_.element_type)
    shape = type_.get_shape()
    flat = np.frombuffer(value.data.data, dtype)
    return flat.reshape(shape) if flat.size == math.prod(shape) else np.broadcast_to(flat, shape)


def unpack(raw: bytes, bits: int, element: Attribute) -> "Array":
    """Integers of 2 or 4 bits, stored from the low end of each byte, as int8 or uint8."""
    data = np.frombuffer(raw, np.uint8)
    mask = (1 << bits) - 1
    parts = [(data >> shift) & mask for shift in range(0, 8, bits)]
    flat = np.stack(parts, axis=-1).reshape(-1)
    if integer_type(element) == (bits, True):
        return flat
    signed = flat.astype(np.int8)
    return np.where(signed >= 1 << (bits - 1), signed - (1 << bits), signed).astype(np.int8)
