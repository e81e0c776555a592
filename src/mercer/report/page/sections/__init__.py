"""The sections of a page, in the order in which they are read."""

from .base import Section
from .columns import columns_section
from .curves import curves_section
from .data import data_section, drift_section
from .errors import errors_section
from .findings import findings_section
from .kernel import gram_section, influence_section
from .model import model_section
from .origin import origin_section
from .verdict import verdict_section

SECTIONS = (
    verdict_section,
    findings_section,
    data_section,
    drift_section,
    model_section,
    curves_section,
    errors_section,
    influence_section,
    gram_section,
    columns_section,
    origin_section,
)

__all__ = ["SECTIONS", "Section"]
