// Derivatives by the columns of points, for Python.
#include <nanobind/stl/shared_ptr.h>

#include <cmath>
#include <memory>

#include "bind/arrays.hpp"
#include "engine/column_slopes.hpp"

namespace {

template <class T>
bool column_slopes(const std::shared_ptr<mercer::Panels<T>>& left,
                   const std::shared_ptr<mercer::Panels<T>>& right, int slope, double exponent,
                   const Matrix<T>& factors, const Matrix<T>& coefficients,
                   const nb::ndarray<double, nb::ndim<3>, nb::c_contig, nb::device::cpu>& out,
                   const std::optional<Stop>& stop) {
    const auto points = left->columns(), others = right->columns();
    const auto size = [](std::size_t n) { return static_cast<std::int64_t>(n); };
    require(0 <= slope && slope < mercer::n_slopes, "column_slopes: unknown slope.");
    require(std::isfinite(exponent) && exponent > 0,
            "column_slopes: the exponent must be above 0.");
    require(size(factors.shape(0)) == points && size(factors.shape(1)) == others,
            "column_slopes: factors must have a row per point and a column per other point.");
    require(size(coefficients.shape(1)) == others,
            "column_slopes: coefficients must have a column per other point.");
    require(size(out.shape(0)) == points && out.shape(1) == coefficients.shape(0) &&
                size(out.shape(2)) == left->rows(),
            "column_slopes: out must have points, outputs and columns.");
    const mercer::ColumnPairs<T> pairs{*left, *right, static_cast<mercer::Slope>(slope), exponent};
    return run(stop, [&](const mercer::Poll& poll) {
        return mercer::column_slopes(pairs, factors.data(), coefficients.data(),
                                     size(coefficients.shape(0)), out.data(), poll);
    });
}

template <class T>
void bind(nb::module_& m) {
    m.def("column_slopes", &column_slopes<T>, "left"_a, "right"_a, "slope"_a, "exponent"_a,
          "factors"_a.noconvert(), "coefficients"_a.noconvert(), "out"_a.noconvert(),
          "stop"_a.none(),
          "Sums of factors times coefficients times derivatives of a summand by the columns of "
          "points, which are packed column by column; False if `stop` said so.");
}

}  // namespace

void bind_slopes(nb::module_& m) {
    bind<float>(m);
    bind<double>(m);
}
