"""The closed lists of a model file: the names that it may give, and the classes they stand for.

The names are those of the format. A class that is renamed or moved keeps its name here, so that
files stay readable.
"""

from __future__ import annotations

from typing import Any

from .. import losses, models
from ..features import (
    AdditiveMap,
    ExplicitMap,
    GaussianTaylor,
    GramTransformer,
    Nystrom,
    NystromCertificate,
    PolynomialSketch,
    RandomBinning,
    RandomFourier,
)
from ..fitting.rfm.tree import Tree
from ..grams.maps.waves import PlainWaves, RotatedWaves
from ..kernels import Basis
from ..postfit.compress.record import Compression, Condensation
from ..postfit.posterior import Posterior
from ..tables import (
    AutoCertificate,
    AutoKernelClassifier,
    AutoKernelRegressor,
    Leaderboard,
    Member,
    OutOfSample,
    Placed,
    TableColumn,
    TableEncoder,
)
from ..tables.auto.intervals import Intervals
from ..tables.encoder.codes import CalendarCode, CategoryCode, MissingCode, NumberCode, TextCode
from ..tables.race.tasks import Units

ESTIMATORS: tuple[tuple[str, type[Any]], ...] = (
    ("GramTransformer", GramTransformer),
    ("KernelFisherDiscriminant", models.KernelFisherDiscriminant),
    ("KernelKMeans", models.KernelKMeans),
    ("KernelMachineClassifier", models.KernelMachineClassifier),
    ("KernelMachineRegressor", models.KernelMachineRegressor),
    ("KernelNeighborsClassifier", models.KernelNeighborsClassifier),
    ("KernelNeighborsRegressor", models.KernelNeighborsRegressor),
    ("KernelPCA", models.KernelPCA),
    ("KernelPerceptron", models.KernelPerceptron),
    ("KernelPrototypeClassifier", models.KernelPrototypeClassifier),
    ("KernelRidge", models.KernelRidge),
    ("KernelRidgeCV", models.KernelRidgeCV),
    ("KernelRidgeClassifier", models.KernelRidgeClassifier),
    ("KernelRidgeClassifierCV", models.KernelRidgeClassifierCV),
    ("NuSVC", models.NuSVC),
    ("NuSVR", models.NuSVR),
    ("OneClassSVM", models.OneClassSVM),
    ("SVC", models.SVC),
    ("SVR", models.SVR),
    ("MKLClassifier", models.MKLClassifier),
    ("MKLOneClassSVM", models.MKLOneClassSVM),
    ("MKLRegressor", models.MKLRegressor),
    ("Nystrom", Nystrom),
    ("ExplicitMap", ExplicitMap),
    ("GaussianTaylor", GaussianTaylor),
    ("PolynomialSketch", PolynomialSketch),
    ("AdditiveMap", AdditiveMap),
    ("RandomBinning", RandomBinning),
    ("RandomFourier", RandomFourier),
    ("TableEncoder", TableEncoder),
    ("AutoKernelClassifier", AutoKernelClassifier),
    ("AutoKernelRegressor", AutoKernelRegressor),
    ("RFMClassifier", models.RFMClassifier),
    ("RFMRegressor", models.RFMRegressor),
)

_LOSSES: tuple[tuple[str, type[Any]], ...] = (
    ("EpsilonInsensitive", losses.EpsilonInsensitive),
    ("Hinge", losses.Hinge),
    ("Huber", losses.Huber),
    ("Logistic", losses.Logistic),
    ("Poisson", losses.Poisson),
    ("Quantile", losses.Quantile),
    ("SmoothedHinge", losses.SmoothedHinge),
    ("Softmax", losses.Softmax),
    ("Squared", losses.Squared),
    ("SquaredHinge", losses.SquaredHinge),
)
LOSSES = frozenset(kind for _, kind in _LOSSES)

RECORDS: tuple[tuple[str, type[Any]], ...] = (
    *_LOSSES,
    ("Basis", Basis),
    ("Certificate", models.Certificate),
    ("Compression", Compression),
    ("Condensation", Condensation),
    ("DiscriminantCertificate", models.DiscriminantCertificate),
    ("KMeansCertificate", models.KMeansCertificate),
    ("MachineCertificate", models.MachineCertificate),
    ("MklCertificate", models.MklCertificate),
    ("PcaCertificate", models.PcaCertificate),
    ("PerceptronCertificate", models.PerceptronCertificate),
    ("PrototypeCertificate", models.PrototypeCertificate),
    ("RidgeCertificate", models.RidgeCertificate),
    ("SvmCertificate", models.SvmCertificate),
    ("Posterior", Posterior),
    ("NystromCertificate", NystromCertificate),
    ("PlainWaves", PlainWaves),
    ("RotatedWaves", RotatedWaves),
    ("TableColumn", TableColumn),
    ("NumberCode", NumberCode),
    ("CategoryCode", CategoryCode),
    ("CalendarCode", CalendarCode),
    ("TextCode", TextCode),
    ("MissingCode", MissingCode),
    ("AutoCertificate", AutoCertificate),
    ("Member", Member),
    ("Leaderboard", Leaderboard),
    ("OutOfSample", OutOfSample),
    ("Placed", Placed),
    ("Intervals", Intervals),
    ("Units", Units),
    ("MetricChoice", models.MetricChoice),
    ("SplitTree", Tree),
)

_ESTIMATORS, _RECORDS = dict(ESTIMATORS), dict(RECORDS)
_NAMES: dict[type[Any], str] = {kind: name for name, kind in (*ESTIMATORS, *RECORDS)}


def estimators() -> dict[str, type[Any]]:
    """Return the estimators that a model file may hold, by name."""
    return dict(_ESTIMATORS)


def records() -> dict[str, type[Any]]:
    """Return the classes whose values a model may keep, by name."""
    return dict(_RECORDS)


def name_of(kind: type[Any]) -> str | None:
    """Return the name of an estimator or a record in a file; None: it has none."""
    return _NAMES.get(kind)


def is_record(value: Any) -> bool:
    """Return whether a value is one of the records."""
    return type(value) in _RECORDS.values()
