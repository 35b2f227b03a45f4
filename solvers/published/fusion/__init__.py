"""Rules of the papers to contract modules. One file per rule; its name is the rule's."""
