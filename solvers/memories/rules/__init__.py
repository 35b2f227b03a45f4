"""Who decides what stays on the chip. One file per rule; its name is the rule's."""
