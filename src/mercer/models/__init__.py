"""scikit-learn estimators, thin: check, prepare, solve, store, return."""

from .adaptive.base import MklCertificate
from .adaptive.classifier import MKLClassifier
from .adaptive.one_class import MKLOneClassSVM
from .adaptive.recursive import MetricChoice
from .adaptive.regressor import MKLRegressor
from .adaptive.rfm import RFMClassifier, RFMRegressor
from .base import Certificate, KernelEstimator
from .compression import compress
from .discriminant import DiscriminantCertificate, KernelFisherDiscriminant
from .kmeans import KernelKMeans, KMeansCertificate
from .machine import KernelMachineClassifier, KernelMachineRegressor, MachineCertificate
from .neighbors import KernelNeighborsClassifier, KernelNeighborsRegressor
from .pca import KernelPCA, PcaCertificate
from .perceptron import KernelPerceptron, PerceptronCertificate
from .prototype import KernelPrototypeClassifier, PrototypeCertificate
from .ridge.classifier import KernelRidgeClassifier
from .ridge.regressor import KernelRidge, RidgeCertificate
from .ridge.search import KernelRidgeClassifierCV, KernelRidgeCV
from .svm.base import SvmCertificate
from .svm.classifier import SVC, NuSVC
from .svm.regressor import SVR, NuSVR, OneClassSVM
from .svm.risk import enclosing_radius, vc_bound

__all__ = [
    "SVC",
    "SVR",
    "Certificate",
    "DiscriminantCertificate",
    "KMeansCertificate",
    "KernelEstimator",
    "KernelFisherDiscriminant",
    "KernelKMeans",
    "KernelMachineClassifier",
    "KernelMachineRegressor",
    "KernelNeighborsClassifier",
    "KernelNeighborsRegressor",
    "KernelPCA",
    "KernelPerceptron",
    "KernelPrototypeClassifier",
    "KernelRidge",
    "KernelRidgeCV",
    "KernelRidgeClassifier",
    "KernelRidgeClassifierCV",
    "MKLClassifier",
    "MKLOneClassSVM",
    "MKLRegressor",
    "MachineCertificate",
    "MetricChoice",
    "MklCertificate",
    "NuSVC",
    "NuSVR",
    "OneClassSVM",
    "PcaCertificate",
    "PerceptronCertificate",
    "PrototypeCertificate",
    "RFMClassifier",
    "RFMRegressor",
    "RidgeCertificate",
    "SvmCertificate",
    "compress",
    "enclosing_radius",
    "vc_bound",
]
