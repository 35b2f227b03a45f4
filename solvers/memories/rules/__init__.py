"""Rules that decide which tensors stay on the chip: one file per rule, whose name is the rule's."""
