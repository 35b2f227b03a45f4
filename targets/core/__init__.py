"""What the boards and runtimes of targets/ are made of, and how they are found."""
