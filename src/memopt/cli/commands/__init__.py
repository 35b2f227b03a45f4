"""A file per command with `add_arguments(commands)` and `run(args)`; its name is the command's."""
