"""From a request to a verified plan."""
