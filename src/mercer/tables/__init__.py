"""Tables of mixed columns: from a data frame to numbers, a kernel, and a model."""

from .auto.base import AutoCertificate
from .auto.classifier import AutoKernelClassifier
from .auto.honest import OutOfSample
from .auto.leaderboard import Leaderboard, Placed
from .auto.members import Member
from .auto.regressor import AutoKernelRegressor
from .encoder import TableColumn, TableEncoder

__all__ = [
    "AutoCertificate",
    "AutoKernelClassifier",
    "AutoKernelRegressor",
    "Leaderboard",
    "Member",
    "OutOfSample",
    "Placed",
    "TableColumn",
    "TableEncoder",
]
