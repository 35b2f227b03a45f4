"""Figures as the papers print them. Nothing here was measured by us.

Zhong: Zhong, Li, Liang, Wang, Huang, "Memory-aware Scheduling for Complex Wired Networks with
Iterative Graph Optimization", 2023 (arXiv:2308.13898), Tables II to VI; KB, seconds with Gurobi.
HMCOS's and SERENITY's columns are quoted from there, not run.

SERENITY: Ahn, Lee, Lin, Cheng, Hou, Esmaeilzadeh, "Ordering Chaos", MLSys 2020, Table 2, section
2.2 (for Figure 3) and Figure 12.

Liberis: Liberis, Lane, "Neural networks on microcontrollers: saving memory at inference via
operator reordering", 2019 (arXiv:1910.05110), Figure 1 and Table 1.
"""

from dataclasses import dataclass

# our graph -> its name in Zhong's tables (shared/graphs/MANIFEST.md says which were reproduced)
ZHONG = {
    ("nasnet_a_imagenet", "frelu"): "NASNet-A",
    ("amoebanet_a_imagenet", "frelu"): "AmoebaNet-A",
    ("darts_imagenet", "frelu"): "Darts",
    ("randwire_s0", "frelu,view"): "Randwire1",
    ("randwire_s60", "frelu,view"): "Randwire2",
    ("randwire_s172", "frelu,view"): "Randwire3",
    ("hrnet_w18_small_v1", "frelu"): "HRNet-W18-V1",
    ("hrnet_w18_small_v2_s1p32", "frelu"): "HRNet-W18-V2",
    ("hrnet_w32_s1p32", "frelu"): "HRNet-W32",
}


@dataclass(frozen=True)
class Peaks:
    """Zhong Table II, KB."""

    rpo: int
    serenity: int
    hmcos: int
    ours: int


TABLE_2 = {
    "NASNet-A": Peaks(4405, 4405, 3943, 3943),
    "AmoebaNet-A": Peaks(10510, 10510, 7732, 7732),
    "Darts": Peaks(1764, 1764, 1764, 1764),
    "Randwire1": Peaks(5494, 5494, 4538, 4538),
    "Randwire2": Peaks(6927, 6927, 6210, 6210),
    "Randwire3": Peaks(5255, 5255, 4777, 4777),
    "HRNet-W18-V1": Peaks(7936, 7936, 7936, 6368),
    "HRNet-W18-V2": Peaks(7936, 7936, 7752, 6432),
    "HRNet-W32": Peaks(7936, 7936, 7808, 7296),
}

# Zhong Table III: seconds of (HMCOS, theirs); "30000+" as printed
TABLE_3: dict[str, tuple[float | str, float]] = {
    "NASNet-A": (1.51, 4.62),
    "AmoebaNet-A": (0.80, 0.11),
    "Darts": (0.18, 0.09),
    "Randwire1": (73, 23),
    "Randwire2": (25.04, 17.09),
    "Randwire3": (1.39, 1.22),
    "HRNet-W18-V1": ("30000+", 0.96),
    "HRNet-W18-V2": ("30000+", 5.01),
    "HRNet-W32": ("30000+", 3.20),
}


@dataclass(frozen=True)
class Programs:
    """Zhong Table IV: variables and seconds of the integer programs of all parts together."""

    partition: tuple[int, float | str]
    fusion: tuple[int, float]
    pruning: tuple[int, float | str]
    both: tuple[int, float]


# the text names the three rows: NASNet-A, Randwire1 and HRNet-W18-Small-V1
TABLE_4 = {
    "NASNet-A": Programs((2903, 213), (402, 4.84), (2837, 210), (590, 1.47)),
    "Randwire1": Programs((21120, ">3600"), (2292, 16), (9527, ">3600"), (1809, 1.75)),
    "HRNet-W18-V1": Programs((2511, 10.7), (310, 2.7), (758, 3.9), (277, 0.96)),
}

# Zhong Table V, KB: (optimal, naive partition, heuristic partition)
TABLE_5 = {
    "NASNet-A": (3943, 4013, 3943),
    "AmoebaNet-A": (7732, 7962, 7732),
    "Darts": (1764, 1764, 1764),
    "HRNet-W18-V1": (6368, 7168, 6368),
    "HRNet-W18-V2": (6396, 6900, 6432),
    "HRNet-W32": (6368, 7040, 6368),
}

# Zhong Table VI: parts -> (KB, seconds); no time is printed for one part of HRNet
TABLE_6: dict[str, dict[int, tuple[int, float | None]]] = {
    "HRNet-W18-V1": {
        1: (6368, None),
        2: (6368, 2832),
        3: (6368, 64),
        4: (6368, 1.12),
        5: (6368, 0.63),
        6: (6400, 0.17),
    },
    "NASNet-A": {
        1: (3943, 155),
        2: (3943, 41.6),
        3: (3943, 61.7),
        4: (3943, 39.4),
        5: (3943, 31),
        6: (3943, 5.01),
    },
}

# Zhong Figure 9, by the text: operators, times fewer at most than the graph and than HMCOS
ZHONG_9 = (6, 4)

# SERENITY Table 2, SwiftNet without rewriting: algorithms -> (nodes and partitions, seconds)
SERENITY_2: dict[str, tuple[str, float | str]] = {
    "1": ("62 = {62}", "N/A"),
    "1+2": ("62 = {21, 19, 22}", 56.5),
    "1+2+3": ("62 = {21, 19, 22}", 37.9),
}

# SERENITY, means of its nine cells in order and rewritten: Figure 10, times less than TensorFlow
# Lite's arena; Figure 13, seconds
SERENITY_10 = (1.68, 1.86)
SERENITY_13 = (40.6, 48.8)

# SERENITY Figure 12, SwiftNet Cell A in TensorFlow Lite, in order, and rewritten, KB of 1,000 B:
# with addresses and without
SERENITY_12 = (551.0, 250.9, 225.8)
SERENITY_12_SUMS = (None, 200.7, 188.2)

# OLLA, section 5.4, Figure 7: per cent saved by order on average, by batch
OLLA_7 = {1: 22.5, 32: 10.1}

# SERENITY, section 4.2, Figure 11: KB on the chip, times less traffic (mean of their networks)
SERENITY_11 = (256, 1.76)

# SERENITY, section 2.2, of SwiftNet Cell A's orders: share within 250 KB, share that is optimal
SERENITY_3 = (0.041, 0.0004)

# Liberis Figure 1, bytes: default and best order; Table 1, KB: SwiftNet Cell in both
LIBERIS_FIGURE_1 = (5216, 4960)
LIBERIS_SWIFTNET = (351, 301)
