"""The C of a planned function, operator by operator."""
