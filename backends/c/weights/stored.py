"""Constant arrays of a model as bytes, and the function that checks them by their CRC-32.

    int net_check_weights(void);    /* 0 if the weights are those that memopt wrote, else 1 */

It is for weights that are not written with the program: a loader puts them into external flash. The
CRC is that of zlib and PNG, of the arrays in the order of the source, little-endian.
"""

import zlib
from collections.abc import Mapping

from memopt.backends.c.emit.c_text import filled
from memopt.backends.c.emit.call import Table
from memopt.dialects.arithmetic.lazy_numpy import np

REALS = {"float": "<f4", "double": "<f8"}
CRC = """
/* The CRC-32 of zlib and PNG, half a byte at a time. */
static uint32_t crc_of(uint32_t crc, const uint8_t *data, uint32_t bytes) {
  static const uint32_t halves[16] = {
      0x00000000u, 0x1db71064u, 0x3b6e20c8u, 0x26d930acu, 0x76dc4190u, 0x6b6b51f4u,
      0x4db26158u, 0x5005713cu, 0xedb88320u, 0xf00f9344u, 0xd6d6a3e8u, 0xcb61b38cu,
      0x9b64c2b0u, 0x86d3d2d4u, 0xa00ae278u, 0xbdbdf21cu};
  crc = ~crc;
  while (bytes-- != 0u) {
    crc ^= *data++;
    crc = crc >> 4 ^ halves[crc & 15u];
    crc = crc >> 4 ^ halves[crc & 15u];
  }
  return ~crc;
}
"""
CHECK = """
int @name@_check_weights(void) {
  static const struct {
    const void *data;
    uint32_t bytes;
  } arrays[] = {
@arrays@  };
  uint32_t crc = 0u;
  uint32_t k;
  for (k = 0u; k < sizeof arrays / sizeof arrays[0]; ++k) {
    crc = crc_of(crc, (const uint8_t *)arrays[k].data, arrays[k].bytes);
  }
  return crc == 0x@crc@u ? 0 : 1;
}
"""
WITHOUT = "\nint @name@_check_weights(void) { return 0; }\n"
DECLARED = """\
/* Reads all weights: 0 if their CRC-32 is that with which they were written, else 1. */
int @name@_check_weights(void);

"""


def stored_bytes(table: Table) -> bytes:
    """Return an array as a little-endian machine has it in memory."""
    c_type = table.c_type
    size = int("".join(filter(str.isdigit, c_type)) or 0) // 8
    dtype = REALS.get(c_type) or f"<{'u' if c_type.startswith('u') else 'i'}{size}"
    values = np.asarray(table.values).reshape(-1).astype(dtype)
    if c_type in REALS:
        values = np.where(np.isnan(values), np.nan, values).astype(dtype)  # C has one NAN
    return values.tobytes() or bytes(values.itemsize)  # no array of C is empty


def check_function(arrays: Mapping[str, Table], name: str) -> str:
    """Return the definition of net_check_weights for the weights by the names of their arrays."""
    stored = {array: stored_bytes(table) for array, table in arrays.items()}
    lines = "".join(f"      {{{array}, {len(data)}u}},\n" for array, data in stored.items())
    crc = f"{zlib.crc32(b''.join(stored.values())):08x}"
    text = CRC + CHECK if arrays else WITHOUT
    return filled(text, {"name": name, "arrays": lines, "crc": crc})


def check_declaration(name: str) -> str:
    """Return its declaration for the header."""
    return filled(DECLARED, {"name": name})
