"""Weights in a file of their own, which the program gives the model when it runs.

    int net_set_weights(const void *blob, uint32_t bytes);    /* 0, or why the blob is refused */

`net.weights.bin` has the arrays in the order of the source, little-endian, each at a multiple of
ALIGNMENT bytes. In the source stands where each begins, and what has their addresses is in RAM:
`net_set_weights` writes them there. Tables that are looked up, and constants that the table of rows
names, stay in the source.
"""

import zlib
from dataclasses import dataclass, field

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.call import Table
from memopt.backends.c.weights.stored import CRC, stored_bytes

ALIGNMENT = 8  # bytes: what the largest element, of 64 bits, needs
NOT_SET = 4  # what a run answers without weights
DECLARED = """\
/* Gives the model its weights: the contents of @name@.weights.bin in memory, where they
 * stay, mapped flash or RAM. Returns 0; 1 if `blob` is null or not aligned to
 * @NAME@_WEIGHTS_ALIGNMENT, 2 if `bytes` are not @NAME@_WEIGHTS_BYTES, 3 if their CRC-32 is that
 * of others. What is refused leaves the model without weights, and runs of it answer @not_set@.
 * Not to be called while a run is under way. */
int @name@_set_weights(const void *blob, uint32_t bytes);

"""
SIZES = """\
#define @NAME@_WEIGHTS_BYTES @bytes@u /* of @name@.weights.bin */
#define @NAME@_WEIGHTS_ALIGNMENT @alignment@u
"""
BASE = """\
/* Where the weights are, once the program has set them. */
static const uint8_t *weights;

"""
SET = """
int @name@_set_weights(const void *blob, uint32_t bytes) {
  weights = NULL;
  if (blob == NULL || (uintptr_t)blob % @NAME@_WEIGHTS_ALIGNMENT != 0u) {
    return 1;
  }
  if (bytes != @NAME@_WEIGHTS_BYTES) {
    return 2;
  }
  if (crc_of(0u, (const uint8_t *)blob, bytes) != 0x@crc@u) {
    return 3;
  }
  weights = (const uint8_t *)blob;
@pointers@  return 0;
}
"""
# Of the program around the model: the file as memory that is mapped, by the GNU assembler.
MAPPED_AS = "extern const uint8_t @name@_weights[@NAME@_WEIGHTS_BYTES];\n"
MAPPED = f"""\
/* @name@.weights.bin as constants of the program. Leave this out where yours reads them from
 * somewhere else. */
#include "@name@.h"

#ifndef MEMOPT_WEIGHTS_FILE
#define MEMOPT_WEIGHTS_FILE "@name@.weights.bin"
#endif

{MAPPED_AS}
__asm__(".section .rodata.@name@_weights, \\"a\\"\\n"
        ".balign 16\\n"
        ".global @name@_weights\\n"
        "@name@_weights:\\n"
        ".incbin \\"" MEMOPT_WEIGHTS_FILE "\\"\\n"
        ".balign 4\\n"
        ".text\\n");
"""
GIVE = """\
  if (@name@_set_weights(@name@_weights, sizeof @name@_weights) != 0) {
    return fail("@name@ has other weights", "", 1);
  }
"""
RULE = """
$(BUILD)/@name@_weights.o: @name@.weights.bin
"""
IN_CMAKE = """\
  set_source_files_properties(@name@_weights.c PROPERTIES
    OBJECT_DEPENDS ${CMAKE_CURRENT_SOURCE_DIR}/@name@.weights.bin
    COMPILE_DEFINITIONS MEMOPT_WEIGHTS_FILE="${CMAKE_CURRENT_SOURCE_DIR}/@name@.weights.bin")
"""


@dataclass
class Blob:
    """The bytes of the file so far, and the statements that give structures their addresses."""

    data: bytearray = field(default_factory=bytearray)
    pointers: list[str] = field(default_factory=list[str])

    def add(self, table: Table) -> str:
        """Append an array and return where it is, in C."""
        self.data += bytes(-len(self.data) % ALIGNMENT)
        at = len(self.data)
        self.data += stored_bytes(table)
        return f"(weights + {at})"

    def point(self, place: str, c_type: str, address: str) -> None:
        """Let the field `place` of a structure point to an array at `address`."""
        self.pointers.append(f"  {place} = (const {c_type} *)(const void *){address};\n")

    def values(self, name: str) -> dict[str, str]:
        """Return what the texts above name."""
        return {
            "name": name,
            "NAME": name.upper(),
            "bytes": str(len(self.data)),
            "alignment": str(ALIGNMENT),
            "crc": f"{zlib.crc32(self.data):08x}",
            "pointers": "".join(self.pointers),
            "not_set": str(NOT_SET),
        }

    def definition(self, name: str) -> str:
        """Return the definition of net_set_weights."""
        return filled(CRC + SET, self.values(name))

    def declaration(self, name: str) -> str:
        """Return its declaration for the header."""
        return filled(DECLARED, self.values(name))

    def sizes(self, name: str) -> str:
        """Return the header's macros."""
        return filled(SIZES, self.values(name))
