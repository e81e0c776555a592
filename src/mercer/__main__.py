"""`python -m mercer` is the command `mercer`."""

from mercer.cli import main

main()
