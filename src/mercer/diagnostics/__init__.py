"""Is it a Mercer kernel, does it fit the labels, are two samples alike?"""

from .independence import hsic_test
from .permutations import PermutationTest
from .semidefinite import Repair, repair
from .targets import alignment, center
from .two_samples import mmd_test
from .validity import KernelCertificate, check_kernel

__all__ = [
    "KernelCertificate",
    "PermutationTest",
    "Repair",
    "alignment",
    "center",
    "check_kernel",
    "hsic_test",
    "mmd_test",
    "repair",
]
