"""Which way a cost model chooses."""

import pytest

from mercer.fitting.costs import Costs, SearchCosts


def search(points=5000, folds=3, alphas=13, weightings=1):
    held = None if folds is None else (points // folds,) * folds
    return SearchCosts(
        rates=Costs(), points=points, held=held, alphas=alphas, weightings=weightings
    )


@pytest.mark.parametrize(
    ("options", "way"),
    [
        ({}, "bands"),
        ({"alphas": 1}, "factors"),
        ({"alphas": 1000}, "bands"),
        ({"folds": 2}, "bands"),
        ({"folds": 50}, "spectrum"),
        ({"folds": 50, "alphas": 1, "weightings": 50}, "factors"),
        ({"folds": None}, "spectrum"),
        ({"folds": None, "alphas": 2}, "factors"),
        ({"points": 300}, "spectrum"),
    ],
    ids=str,
)
def test_the_search_takes_what_costs_least(options, way):
    costs = search(**options)
    found, cost = costs.cheapest()
    assert found == way
    table = [costs.by_spectrum(), costs.by_factors()]
    if costs.held is not None:
        table.append(costs.by_bands())
    if costs.points >= costs.rates.refit_from:
        assert cost == min(table)


def test_a_search_never_costs_more_than_a_factor_for_every_fold_and_alpha():
    for points in (1000, 3000, 6000):
        for folds in (2, 3, 5, 10, 30):
            for alphas in (1, 4, 13, 50):
                costs = search(points, folds, alphas)
                train = points - points // folds
                plain = folds * alphas * train**3 / 3 / costs.rates.double
                assert costs.cheapest()[1] <= plain


def test_low_rank_is_tried_up_to_where_it_costs_less():
    for folds in (2, 3, 5, 10, None):
        costs = search(folds=folds)
        rank = costs.most_rank()
        assert 0 < rank <= costs.points // 2
    assert search(folds=2).most_rank() < search(folds=30).most_rank()


def test_time_rises_with_the_points_and_no_faster_than_they_let_it():
    costs, before = Costs(), 0.0
    for points in range(500, 20_000, 100):
        rank = int((20 * points) ** 0.5)
        factor = costs.factor(points)
        gradients = costs.gradients(points, 1, 4, rank, 1e-6)
        cost = factor if factor <= max(costs.quick, gradients) else gradients
        assert cost >= 0.5 * before  # where the way changes, for a less exact one
        assert before == 0 or cost <= 2 * before
        before = cost


def test_a_factor_pays_for_many_outputs():
    costs = Costs()
    one, many = (costs.gradients(8000, outputs, 4, 400, 1e-6) for outputs in (1, 100))
    assert one < costs.factor(8000) < many
