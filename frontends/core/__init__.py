"""Parts that importers of all formats share."""
