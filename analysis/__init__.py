"""What follows from a function, derived once."""
