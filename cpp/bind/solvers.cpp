// The solver of quadratic problems in a box, and the perceptron, for Python.
#include <nanobind/stl/tuple.h>

#include <tuple>

#include "bind/arrays.hpp"
#include "solvers/perceptron.hpp"
#include "solvers/smo.hpp"

namespace {

template <class T>
void bind_solver(nb::module_& m, const char* name) {
    using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Places = Column<std::int64_t>;
    const auto size = [](const auto& array) { return static_cast<std::int64_t>(array.shape(0)); };
    using Solver = mercer::BlockSolver<T>;
    nb::class_<Solver>(m, name, "Solves parts of a quadratic problem in a box.")
        .def(nb::init<>())
        .def(
            "solve",
            [size](Solver& self, const Matrix<T>& rows, const Places& slots, const Places& columns,
                   std::int64_t kept, const Column<double>& lower, const Column<double>& upper,
                   double kink, bool offset, bool split, const Numbers& b, const Numbers& g,
                   double tol, std::int64_t max_iterations, const std::optional<Stop>& stop,
                   bool lazy) {
                const std::int64_t count = size(slots);
                require(size(columns) == count && size(lower) == count && size(upper) == count &&
                            size(b) == count && size(g) == count,
                        "solve: there must be as many columns, bounds and numbers as slots.");
                const mercer::KernelRows<T> K{rows.data(), size(rows),
                                              static_cast<std::int64_t>(rows.shape(1))};
                const mercer::BoxProblem problem{lower.data(), upper.data(), kink, offset, split};
                mercer::SmoResult result{};
                run(stop, [&](const mercer::Poll& poll) {
                    result = self.solve(K, slots.data(), columns.data(), count, kept, problem,
                                        b.data(), g.data(), tol, max_iterations, poll, lazy);
                    return result.ended != mercer::Ended::stopped;
                });
                constexpr const char* names[] = {"converged", "iterations", "stopped", "unbounded"};
                return std::make_tuple(names[static_cast<int>(result.ended)], result.iterations,
                                       result.violation);
            },
            "rows"_a.noconvert(), "slots"_a.noconvert(), "columns"_a.noconvert(), "kept"_a,
            "lower"_a.noconvert(), "upper"_a.noconvert(), "kink"_a, "offset"_a, "split"_a,
            "b"_a.noconvert(), "g"_a.noconvert(), "tol"_a, "max_iterations"_a, "stop"_a.none(),
            "lazy"_a = false,
            "Optimise b, and g with it, in place; how it ended, iterations, violation.")
        .def(
            "polish",
            [size](Solver& self, const Matrix<T>& rows, const Column<double>& linear,
                   const Column<double>& lower, const Column<double>& upper, double kink,
                   bool offset, bool split, const Numbers& b, const Numbers& g, double rounding,
                   std::int64_t most, const std::optional<Stop>& stop) {
                const std::int64_t count = size(linear);
                require(size(lower) == count && size(upper) == count && size(b) == count &&
                            size(g) == count,
                        "polish: there must be as many bounds and numbers as variables.");
                const mercer::BoxProblem problem{lower.data(), upper.data(), kink, offset, split};
                const mercer::KernelRows<T> K{rows.data(), size(rows),
                                              static_cast<std::int64_t>(rows.shape(1))};
                mercer::Polished found{};
                run(stop, [&](const mercer::Poll& poll) {
                    found = self.polish(K, problem, linear.data(), b.data(), g.data(), count,
                                        rounding, most, poll);
                    return true;
                });
                return std::make_tuple(found.exact, found.violation, found.rounding);
            },
            "rows"_a.noconvert(), "linear"_a.noconvert(), "lower"_a.noconvert(),
            "upper"_a.noconvert(), "kink"_a, "offset"_a, "split"_a, "b"_a.noconvert(),
            "g"_a.noconvert(), "rounding"_a, "most"_a, "stop"_a.none(),
            "Move b of the problem solved last to its last digits; whether these were reached, the "
            "violation, and how much of it may be rounding.");
    m.def(
        "add_rows",
        [size](const Matrix<T>& rows, const Places& slots, const Column<double>& weights,
               const Places& columns, const Numbers& g) {
            require(size(weights) == size(slots) && size(g) == size(columns),
                    "add_rows: there must be one weight per slot, and as many g as columns.");
            const mercer::KernelRows<T> K{rows.data(), size(rows),
                                          static_cast<std::int64_t>(rows.shape(1))};
            const nb::gil_scoped_release release;
            mercer::add_rows(K, slots.data(), weights.data(), size(slots), columns.data(),
                             size(columns), g.data());
        },
        "rows"_a.noconvert(), "slots"_a.noconvert(), "weights"_a.noconvert(),
        "columns"_a.noconvert(), "g"_a.noconvert(), "g += weights' columns of rows, in place.");
}

template <class T>
void bind_walk(nb::module_& m) {
    using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Places = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    const auto size = [](const auto& array) { return static_cast<std::int64_t>(array.shape(0)); };
    m.def(
        "walk",
        [size](const Matrix<T>& K, const Column<std::int64_t>& order,
               const Column<std::int64_t>& codes, const Output<double>& scores,
               const Numbers& offset, const Column<double>& roots, double length, double count,
               double rounding, double drift, const Places& places, const Places& rivals) {
            const auto n = static_cast<std::int64_t>(scores.shape(1));
            require(size(codes) == n && size(roots) == n && size(offset) == size(scores),
                    "walk: there must be a code and a root per point, and an offset per class.");
            require(size(scores) >= 2, "walk: there must be at least two classes.");
            require(size(places) >= size(order) && size(rivals) >= size(order),
                    "walk: there must be room for one mistake per visit.");
            mercer::Scores found{scores.data(), offset.data(), size(scores), n,    roots.data(),
                                 length,        count,         rounding,     drift};
            const mercer::KernelRows<T> rows{K.data(), size(K),
                                             static_cast<std::int64_t>(K.shape(1))};
            const nb::gil_scoped_release release;
            const auto done = mercer::walk(rows, order.data(), size(order), codes.data(), found,
                                           places.data(), rivals.data());
            return std::make_tuple(done.visited, done.made);
        },
        "K"_a.noconvert(), "order"_a.noconvert(), "codes"_a.noconvert(), "scores"_a.noconvert(),
        "offset"_a.noconvert(), "roots"_a.noconvert(), "length"_a, "count"_a, "rounding"_a,
        "drift"_a, "places"_a.noconvert(), "rivals"_a.noconvert(),
        "Visit points in turn; how many, up to one that is too close to tell, and mistakes.");
}

}  // namespace

void bind_solvers(nb::module_& m) {
    bind_solver<float>(m, "BlockSolver32");
    bind_solver<double>(m, "BlockSolver64");
    bind_walk<float>(m);
    bind_walk<double>(m);
}
