"""Methods of the papers to order operators. One file per method; its name is the method's."""
