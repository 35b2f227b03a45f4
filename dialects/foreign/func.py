"""The `func` dialect's memory behaviour: a call is one step (regions.py)."""

from memopt.dialects.foreign.regions import call

MEMORY = {"func.call": call}
