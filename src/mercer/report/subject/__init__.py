"""What a report is about: a fitted model, the points it was fitted to, and parts of both."""

from .core import Core, core_of
from .learners import Fitted, Learner, learner_of, values_of
from .points import replaced, size_of, taken
from .subject import Subject, make_subject, same_kind

__all__ = [
    "Core",
    "Fitted",
    "Learner",
    "Subject",
    "core_of",
    "learner_of",
    "make_subject",
    "replaced",
    "same_kind",
    "size_of",
    "taken",
    "values_of",
]
