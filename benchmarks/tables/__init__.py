"""The papers' tables and ours, side by side: `python -m benchmarks`.

`papers.py` holds what the papers print, `schedule.py` measures; nothing here decides anything.
"""
