"""What passes that plan share: the way into numbers and back into the IR."""
