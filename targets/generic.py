"""No board in particular: plans that every C target takes, and the default of the IR."""

from memopt.targets.core.target import Target

TARGET = Target()
