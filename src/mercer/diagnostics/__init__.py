"""Is it a Mercer kernel, does it fit the labels, are two samples alike?"""

from .independence import hsic_test, mmd_test
from .validity import alignment, center, check_kernel, repair

__all__ = ["alignment", "center", "check_kernel", "hsic_test", "mmd_test", "repair"]
