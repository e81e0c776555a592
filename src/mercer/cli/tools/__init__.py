"""Commands beside the main road: check a kernel, compare speeds, show it all."""
