"""Streaming networks: variables that another subgraph sets once, and that each run moves on."""

from typing import Any

import numpy as np
from forge_model import INT8, INT32, Forge, schema

RESOURCE = schema.TensorType.RESOURCE
BUILTIN, KINDS = schema.BuiltinOperator, schema.BuiltinOptions


class Streams:
    """A main subgraph of `forge`, and one that sets what variables begin with."""

    def __init__(self, forge: Forge) -> None:
        self.forge, self.main = forge, forge.graph
        self.first: Any = schema.SubGraphT()
        self.first.name = "NoOp"
        self.first.tensors, self.first.operators = [], []
        self.first.inputs, self.first.outputs = [], []
        forge.model.subgraphs.append(self.first)
        options: Any = schema.CallOnceOptionsT()
        options.initSubgraphIndex = 1
        forge.operator(BUILTIN.CALL_ONCE, [], [], options, KINDS.CallOnceOptions)

    def handle(self, name: str) -> int:
        """The variable of that name, in the subgraph that grows."""
        options: Any = schema.VarHandleOptionsT()
        options.container, options.sharedName = "", name
        handle = self.forge.tensor([], RESOURCE)
        self.forge.operator(BUILTIN.VAR_HANDLE, [], handle, options, KINDS.VarHandleOptions)
        self.forge.graph.outputs.remove(handle)
        return handle

    def read(self, handle: int, like: int, shape: list[int]) -> int:
        result = self.forge.activation(shape, like=like)
        kind = KINDS.ReadVariableOptions
        options = schema.ReadVariableOptionsT()
        self.forge.operator(BUILTIN.READ_VARIABLE, [handle], result, options, kind)
        return result

    def assign(self, handle: int, value: int) -> None:
        options = schema.AssignVariableOptionsT()
        kind = KINDS.AssignVariableOptions
        self.forge.operator(BUILTIN.ASSIGN_VARIABLE, [handle, value], [], options, kind)

    def begins_with(self, name: str, shape: list[int], values: Any, like: int) -> None:
        """What the other subgraph sets."""
        old = self.main.tensors[like].quantization
        self.forge.graph = self.first
        value = self.forge.tensor(shape, INT8, values, old.scale, old.zeroPoint)
        self.assign(self.handle(name), value)
        self.forge.graph = self.main

    def window(self, length: int, kept: int, name: str, values: Any = None) -> None:
        """The last `kept` rows before this run's `length`, then a convolution over all of them, as
        in wake-word networks."""
        forge, width = self.forge, 3
        source = forge.input([1, length, 1, width])
        state = [1, kept, 1, width]
        if values is None:
            values = forge.rng.integers(-128, 128, state)
        self.begins_with(name, state, values, source)
        handle = self.handle(name)
        before = self.read(handle, source, state)
        options: Any = schema.ConcatenationOptionsT()
        options.axis = 1
        whole = forge.activation([1, kept + length, 1, width], like=source)
        kind = KINDS.ConcatenationOptions
        forge.operator(BUILTIN.CONCATENATION, [before, source], whole, options, kind)
        ends = ([0, length, 0, 0], [0, kept + length, 0, 0], [1, 1, 1, 1])
        last = forge.activation(state, like=source)
        options = schema.StridedSliceOptionsT()
        options.beginMask, options.endMask = 0b1101, 0b1101
        numbers = [forge.tensor([4], INT32, np.array(v)) for v in ends]
        kind = KINDS.StridedSliceOptions
        forge.operator(BUILTIN.STRIDED_SLICE, [whole, *numbers], last, options, kind)
        self.assign(handle, last)
        for tensor in (before, whole, last):
            forge.graph.outputs.remove(tensor)
        weights = forge.weights([4, kept + length, 1, width], 4, 0, True)
        bias = forge.bias(source, weights, 4, needed=True)
        result = forge.activation([1, 1, 1, 4])
        options = schema.Conv2DOptionsT()
        options.padding, options.strideH, options.strideW = 1, 1, 1
        options.dilationHFactor = options.dilationWFactor = 1
        kind = KINDS.Conv2DOptions
        forge.operator(BUILTIN.CONV_2D, [whole, weights, bias], result, options, kind)
