"""What an automatic learner and its baselines predict for rows that they have not seen."""

from __future__ import annotations

from dataclasses import dataclass

from ...checks import Array


@dataclass(frozen=True, kw_only=True)
class OutOfSample:
    """Predictions for training rows by models that have not seen them.

    The weights of the ensemble were chosen without the row as well, so that scores of these
    predictions are those of new rows like them.

    Parameters
    ----------
    rows : ndarray of shape (n_judged,)
        The rows that were judged, as positions in X of the fit.
    values : ndarray of shape (n_judged, n_classes) or (n_judged, n_outputs)
        Probabilities of the classes, or numbers in the units of y, by the ensemble.
    baselines : dict of ndarray
        The same by each baseline that was judged: "constant", "linear", "trees".

    Examples
    --------
    >>> import numpy as np
    >>> from mercer.tables import OutOfSample
    >>> known = OutOfSample(rows=np.array([3]), values=np.array([[0.2, 0.8]]), baselines={})
    >>> known.values.argmax(axis=1).tolist()
    [1]
    """

    rows: Array
    values: Array
    baselines: dict[str, Array]
