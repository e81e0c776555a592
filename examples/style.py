"""How the pictures of the examples look, and where they go."""

import sys
from pathlib import Path

import matplotlib

matplotlib.use("Agg")

BLUE, ORANGE, INK, GREY = "#0072B2", "#D55E00", "#222222", "#777777"  # for any colour vision
COLOURS = [BLUE, ORANGE, "#009E73", "#CC79A7"]
TINTS = ["#CFE5F2", "#FBE0CC"]  # of the first two
STYLE = {
    "font.size": 11,
    "axes.titlesize": 11,
    "axes.spines.top": False,
    "axes.spines.right": False,
    "figure.constrained_layout.use": True,
    "savefig.dpi": 144,
}


def output_folder():
    """Return the folder given on the command line, made if it is not there."""
    folder = Path(sys.argv[1] if len(sys.argv) > 1 else "demo-output")
    folder.mkdir(parents=True, exist_ok=True)
    return folder
