"""The call tree of a linked program, and the stack that it needs.

    CallTree.of(functions_of(listing.splitlines())).below("model_main")    # bytes, None: no bound

A call through a pointer is one of any kernel; below a kernel, where kernels call others, of any
that calls none so. Recursion, and a stack pointer that is computed, have no bound.
"""

import re
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from functools import cache

from memopt.backends.c.kernels import kernel_files

_FUNCTION = re.compile(r"^([0-9a-f]+) <([^>]+)>:$")


def starts_of(listing: Iterable[str]) -> dict[int, str]:
    """Return address -> function, of what `objdump -d -w` prints. Static ones of one name, in
    several files, are told apart by their addresses."""
    starts: dict[int, str] = {}
    for line in listing:
        if row := _FUNCTION.match(line):
            is_taken = row[2] in starts.values()
            starts[int(row[1], 16)] = f"{row[2]}@{row[1]}" if is_taken else row[2]
    return starts


def is_called(name: str) -> bool:
    """Return whether pointers lead to a function: a kernel, of a model or shared, or the runner of
    one of several models."""
    return name.endswith("_step") or any(
        name == kernel or name.endswith(f"_{kernel}") for kernel in _kernels()
    )


@cache
def _kernels() -> frozenset[str]:
    return frozenset(file.removesuffix(".c") for file in kernel_files() if file.endswith(".c"))


@dataclass(frozen=True)
class Function:
    """Bytes of its own, None if they are computed; the functions that it calls, or ends in; whether
    it calls through pointers."""

    frame: int | None
    calls: frozenset[str]
    is_indirect: bool


@dataclass(frozen=True)
class CallTree:
    """Functions by name, and those that pointers may lead to."""

    functions: Mapping[str, Function]
    kernels: frozenset[str]
    _known: dict[tuple[str, bool], int | None] = field(
        default_factory=dict[tuple[str, bool], int | None], repr=False
    )

    @classmethod
    def of(
        cls, functions: Mapping[str, Function], is_kernel: Callable[[str], bool] = is_called
    ) -> "CallTree":
        return cls(functions, frozenset(filter(is_kernel, functions)))

    def below(self, name: str) -> int | None:
        """Bytes that what a function calls needs, besides its own."""
        return self._deepest(name, False, (name,))

    def _deepest(self, name: str, inside: bool, path: tuple[str, ...]) -> int | None:
        """Return the bytes that what a function calls needs, below a kernel or not; None for what
        is not known, as of one that calls itself."""
        if (name, inside) in self._known:
            return self._known[name, inside]
        function, below = self.functions[name], inside or name in self.kernels
        calls = set(function.calls)
        if function.is_indirect:
            calls |= self._leaves if below else self.kernels
        deepest: int | None = 0
        for call in calls:
            own = self.functions[call].frame
            depth = None if call in path else self._deepest(call, below, (*path, call))
            if depth is None or own is None:
                deepest = None
                break
            deepest = max(deepest, own + depth)
        self._known[name, inside] = deepest
        return deepest

    @property
    def _leaves(self) -> set[str]:
        """Kernels below which nothing calls through a pointer."""
        return {k for k in self.kernels if not self._calls_indirectly(k, set())}

    def _calls_indirectly(self, name: str, seen: set[str]) -> bool:
        function = self.functions[name]
        seen.add(name)
        return function.is_indirect or any(
            self._calls_indirectly(call, seen) for call in function.calls - seen
        )
