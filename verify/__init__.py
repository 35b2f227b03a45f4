"""Checks of plans and placements that share nothing with what made them."""
