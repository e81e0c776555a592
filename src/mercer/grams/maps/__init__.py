"""Feature maps that the native core computes."""
