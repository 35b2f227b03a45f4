"""One file per strategy; its name is the strategy's."""
