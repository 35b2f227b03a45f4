"""One file per method; its name is the method's."""
