"""One file per method to cut a graph into parts; its name is the method's."""
