"""Is it a Mercer kernel, does it fit the labels, are two samples alike?"""

from .aligned import Aligned, align
from .independence import PermutationTest, hsic_test, mmd_test
from .validity import KernelCertificate, Repair, alignment, center, check_kernel, repair

__all__ = [
    "Aligned",
    "KernelCertificate",
    "PermutationTest",
    "Repair",
    "align",
    "alignment",
    "center",
    "check_kernel",
    "hsic_test",
    "mmd_test",
    "repair",
]
