"""Python API: `memopt.NAME`, see `help(memopt)` and docs/guides/python.md.

One file per question: `sources` (what a graph may be, `load`), `peaks` (`peak`), `plans` (`plan`),
`compile` (`compile`), `checks` (`verify`), `place_buffers` (`place`), `sweeps` (`sweep`),
`profiles` (`profile`), `validations` (`validate`). `memopt` itself loads the one that is asked for.
Bad input is a MemoptError with its place, a wrong argument a ValueError or TypeError that says what
there is; nothing is printed.
"""
