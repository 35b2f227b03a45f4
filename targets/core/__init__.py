"""Parts of which the boards and runtimes of targets/ are made, and the search for them."""
