"""The command line `mercer`."""
