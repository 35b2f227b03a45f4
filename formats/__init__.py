"""Bytes on disk, read and written."""
