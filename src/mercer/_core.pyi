"""
The native core of mercer. Import mercer._native instead: it checks what it passes on.
"""



def version() -> str:
    """The version of mercer this was compiled for."""

def isa() -> str:
    """
    The instruction set in use: 'baseline' or 'avx2'. MERCER_ISA forces one.
    """

MAX_THREADS: int = 1024

def num_threads() -> int:
    """How many threads native loops use."""

def set_num_threads(count: int) -> None:
    """Set how many threads native loops use from now on."""
