"""The papers' tables and ours, side by side: `memopt bench`.

`papers.py` holds what the papers print, `schedule.py` measures; nothing here decides anything.
"""
