"""Floats to a model's quantised inputs and back from its outputs, as functions of its header.

Rounds as TensorFlow Lite Micro's QUANTIZE: the float32 ratio to the nearest integer, halves away
from zero. Needs no library, and compiles as C99 and as C++.

    int8_t net_quantize_input_0(float value);
    float net_dequantize_output_0(int8_t value);
"""

from collections.abc import Mapping

from xdsl.ir import SSAValue

from memopt.dialects.memgraph.tensors import encoding_of

RANGES = {
    "int8_t": (-128, 127),
    "uint8_t": (0, 255),
    "int16_t": (-32768, 32767),
    "uint16_t": (0, 65535),
}

# The ratio is clamped while it is a float: what an int32 cannot hold has no conversion in C.
_NEAREST = """/* The integer nearest to value / scale + zero_point, halves away from zero, kept
 * within low..high; NaN counts as 0. */
@HELPER@ int32_t @name@_nearest(float value, float scale, int32_t zero_point, int32_t low,
                                int32_t high) {
  const float ratio = value / scale;
  const float least = (float)(low - zero_point);
  if (ratio >= (float)(high - zero_point)) {
    return high;
  }
  if (ratio > least) {
    int32_t whole = (int32_t)ratio; /* towards zero; the rest is exact */
    if (ratio - (float)whole >= 0.5f) {
      ++whole;
    } else if (ratio - (float)whole <= -0.5f) {
      --whole;
    }
    return whole + zero_point;
  }
  return ratio <= least ? low : zero_point;
}
"""

_MACRO = """#ifdef __GNUC__
#define @HELPER@ static __inline__ __attribute__((unused))
#else
#define @HELPER@ static inline
#endif
"""


def has_conversion(value: SSAValue, c_type: str) -> bool:
    """Return whether a tensor of `c_type` has one scale, and a zero point in the range of the
    type."""
    encoding = encoding_of(value)
    if c_type not in RANGES or len(encoding.scales) != 1:
        return False
    low, high = RANGES[c_type]
    return encoding.scales[0] > 0 and low <= encoding.zero_points[0] <= high


def conversions(name: str, inputs: Mapping[int, str], outputs: Mapping[int, str]) -> str:
    """The functions for these inputs and outputs, index -> C type; empty if there is none."""
    parts = [_MACRO] if inputs or outputs else []
    if inputs:
        parts.append(_NEAREST)
    for i, c_type in inputs.items():
        prefix = f"{name.upper()}_INPUT_{i}"
        low, high = RANGES[c_type]
        parts.append(
            f"/* What input {i} holds for a real value. */\n"
            f"@HELPER@ {c_type} {name}_quantize_input_{i}(float value) {{\n"
            f"  return ({c_type}){name}_nearest(\n"
            f"      value, {prefix}_SCALE, {prefix}_ZERO_POINT, {low}, {high});\n}}\n"
        )
    for i, c_type in outputs.items():
        prefix = f"{name.upper()}_OUTPUT_{i}"
        parts.append(
            f"/* The real value that output {i} stands for. */\n"
            f"@HELPER@ float {name}_dequantize_output_{i}({c_type} value) {{\n"
            f"  return {prefix}_SCALE * (float)((int32_t)value - {prefix}_ZERO_POINT);\n}}\n"
        )
    text = "".join(f"{part}\n" for part in parts)
    return text.replace("@HELPER@", f"{name.upper()}_HELPER").replace("@name@", name)
