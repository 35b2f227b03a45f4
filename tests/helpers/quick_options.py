"""Options of a compile of which the code is tested, and neither the plan nor the figures."""

QUICK = ("--place=auto", "--measure=off")
