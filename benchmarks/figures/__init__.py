"""The papers' figures of which the inputs are public, as tables: ours beside theirs."""
