"""Names of custom operators in files that are programs of an accelerator, made by its compiler."""

from typing import Final

COMPILED: Final = {
    "DISPATCH_OP": "LiteRT's accelerators",
    "NeutronGraph": "NXP's eIQ Neutron",
    "edgetpu-custom-op": "Google's Edge TPU",
    "ethos-u": "Arm's Ethos-U",
    "vsi-npu": "VeriSilicon's NPU",
}


def npu_of(name: str) -> str:
    """Return the accelerator whose program a custom operator is, "" for any other."""
    return COMPILED.get(name, "")
