"""A page about a fitted model: how good it is, what to mind, how it decides."""
