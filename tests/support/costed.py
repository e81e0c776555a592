"""Models that choose their way by other costs than the usual ones."""

from dataclasses import replace

from mercer.fitting.costs import Costs


def costed(model, **costs):
    """Return the model, whose settings have these costs from now on."""
    usual = model._settings

    def settings(run):
        return replace(usual(run), costs=Costs(**costs))

    model._settings = settings
    return model
