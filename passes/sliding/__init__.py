"""Windows that slide: which rows stay from one run to the next."""
