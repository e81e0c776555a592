"""scikit-learn's own checks of recursive feature machines, and model files of them."""

from sklearn.utils.estimator_checks import parametrize_with_checks

from mercer import RFMClassifier, RFMRegressor


@parametrize_with_checks(
    [
        RFMClassifier(),
        RFMRegressor(),
        RFMRegressor("gaussian", metric="full", steps=2, width=2.0, alpha=0.1),
    ]
)
def test_scikit_learn_is_content(estimator, check):
    check(estimator)
