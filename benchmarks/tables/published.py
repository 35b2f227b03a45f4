"""Figures that others have published of the networks in shared/models, none of them measured here.

Each figure has its source and says what it counts. Cycles are of one inference,
milliseconds times megahertz where these are what was published; instructions are counted in QEMU.
"""

from dataclasses import dataclass

MLPERF = "published results of MLPerf Tiny"


@dataclass(frozen=True)
class Figure:
    """Figure of `who`: its need of `what` (cycles, instructions, bytes of RAM) for a network on a
    core."""

    model: str
    core: str
    who: str
    what: str
    value: float
    source: str


FIGURES: tuple[Figure, ...] = (
    *(
        Figure(model, "cortex-m4", who, "cycles", cycles, MLPERF)
        for model, x_cube_ai, plumerai in (
            ("resnet8_int8", 19.9e6, 20.1e6),
            ("dscnn_kws_int8", 5.2e6, 5.7e6),
            ("mobilenet_vww96_int8", 10.7e6, 11.8e6),
            ("ad01_autoencoder_int8", 0.576e6, 0.49e6),
        )
        for who, cycles in (("X-CUBE-AI", x_cube_ai), ("Plumerai", plumerai))
    ),
    *(
        Figure(model, "cortex-m4", who, "instructions", count, "built with -O2 and counted in QEMU")
        for model, reference, cmsis_nn in (
            ("resnet8_int8", 107.5e6, 29.9e6),
            ("dscnn_kws_int8", 43.1e6, 7.70e6),
            ("mobilenet_vww96_int8", 100.5e6, 24.1e6),
            ("person_detect_int8", 95.9e6, 22.9e6),
            ("ad01_autoencoder_int8", 1.95e6, 0.583e6),
            ("streaming_wakeword_int8", 8.30e6, 2.23e6),
            ("tinymaix_mnist_resnet_int8", 5.08e6, 1.38e6),
        )
        for who, count in (("TFLM, reference", reference), ("TFLM, CMSIS-NN", cmsis_nn))
    ),
    Figure("resnet8_float", "cortex-m7", "onnx2c", "instructions", 119e6, "at its flags, in QEMU"),
    *(
        Figure(model, "cortex-m4", who, "RAM", size, source)
        for model, who, size, source in (
            ("mobilenet_vww96_int8", "X-CUBE-AI", 41_152, "8.1, input and scratch included"),
            ("mobilenet_vww96_int8", "Plumerai", 40_960, "one figure, the most of four models"),
            ("mobilenet_vww96_int8", "DMO", 36_864, "diagonal memory optimisation, arena"),
            ("resnet8_int8", "HALE", 36_560, "Bosch"),
            ("resnet8_int8", "HALE", 21_104, "Bosch, at 54 % of the speed"),
            ("resnet8_int8", "DMO", 33_296, "diagonal memory optimisation, arena"),
        )
    ),
)
