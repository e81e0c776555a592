"""Model cards: what a model learnt from, how good it was, and what it was not made for."""

from .make import make_card
from .outside import Outside
from .reading import card_of_json
from .record import CardColumn, CardScore, ModelCard

__all__ = ["CardColumn", "CardScore", "ModelCard", "Outside", "card_of_json", "make_card"]
