"""Boards and run times: what each asks and grants."""
