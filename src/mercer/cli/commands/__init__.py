"""The commands, one module for each; `command` in it is what click runs."""
