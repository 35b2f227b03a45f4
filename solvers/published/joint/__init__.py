"""Published methods for order and addresses together, a file each."""
