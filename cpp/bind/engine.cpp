// The engine for Python: packed points, and matrices of kernel values.
#include "engine/engine.hpp"

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/shared_ptr.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/unique_ptr.h>
#include <nanobind/stl/vector.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "bind/arrays.hpp"
#include "engine/answers.hpp"
#include "engine/half_matrix.hpp"
#include "engine/normal.hpp"

namespace {

using Numbers = std::optional<Column<double>>;  // one per column, or none

template <class Number>
mercer::DenseRows<Number> dense_rows(const Rows<Number>& x) {
    const auto rows = static_cast<std::int64_t>(x.shape(0));
    const auto columns = static_cast<std::int64_t>(x.shape(1));
    require(rows == 0 || columns <= 1 || x.stride(1) == 1,
            "Panels: the numbers of a row must be adjacent.");
    return {x.data(), rows, columns, rows > 1 ? x.stride(0) : columns};
}

template <class T>
std::vector<std::vector<T>> copies(const std::vector<Column<T>>& given) {
    std::vector<std::vector<T>> made;
    for (const auto& one : given) made.emplace_back(one.data(), one.data() + one.shape(0));
    return made;
}

template <class T, class Source>
std::shared_ptr<mercer::Panels<T>> pack_rows(const Source& source, const Numbers& centre,
                                             const Numbers& scale) {
    const auto fits = [&](const Numbers& numbers) {
        return !numbers || static_cast<std::int64_t>(numbers->shape(0)) == source.columns;
    };
    require(fits(centre), "Panels: one centre per column is needed.");
    require(fits(scale), "Panels: one scale per column is needed.");
    const nb::gil_scoped_release release;
    return std::make_shared<mercer::Panels<T>>(source, centre ? centre->data() : nullptr,
                                               scale ? scale->data() : nullptr);
}

template <class T, class Number>
std::shared_ptr<mercer::Panels<T>> pack(const Rows<Number>& x, const Numbers& centre,
                                        const Numbers& scale) {
    return pack_rows<T>(dense_rows(x), centre, scale);
}

template <class T, class Number, class Index>
std::shared_ptr<mercer::Panels<T>> pack_sparse(const Column<Number>& values,
                                               const Column<Index>& places,
                                               const Column<Index>& starts, std::int64_t columns,
                                               const Numbers& centre, const Numbers& scale) {
    require(values.shape(0) == places.shape(0) && starts.shape(0) >= 1,
            "Panels: every number of a sparse row needs its column, every row its start.");
    return pack_rows<T>(
        mercer::SparseRows<Number, Index>{values.data(), places.data(), starts.data(),
                                          static_cast<std::int64_t>(starts.shape(0)) - 1, columns,
                                          static_cast<std::int64_t>(values.shape(0))},
        centre, scale);
}

template <class T, class Number, class Index, class Class>
void bind_sparse(Class& panels) {
    panels.def_static("pack_sparse", &pack_sparse<T, Number, Index>, "values"_a.noconvert(),
                      "places"_a.noconvert(), "starts"_a.noconvert(), "columns"_a,
                      "centre"_a.noconvert().none(), "scale"_a.noconvert().none());
}

// A native job of new rows runs with Python's lock where it is shorter than waiting for the lock.
template <class T, class Work>
void run_few(const mercer::Job<T>& job, const Work& work) {
    if (job.small()) {
        work();
    } else {
        const nb::gil_scoped_release release;
        work();
    }
}

template <class T, class Number, class Class>
void bind_answers(Class& answers) {
    using Answers = mercer::Answers<T>;
    const auto job = [](const Answers& self, const Rows<Number>& x,
                        const std::vector<Column<T>>& vectors) {
        return self.job(dense_rows(x), copies(vectors));
    };
    answers
        .def(
            "multiply",
            [job](const Answers& self, const Rows<Number>& x, const std::vector<Column<T>>& vectors,
                  const Matrix<double>& v, const Output<double>& out) {
                require(static_cast<std::int64_t>(v.shape(0)) == self.columns() &&
                            out.shape(0) == x.shape(0) && out.shape(1) == v.shape(1),
                        "multiply: v and out must fit.");
                const auto found = job(self, x, vectors);
                if (!found) return false;
                run_few(*found, [&] {
                    found->multiply(v.data(), static_cast<std::int64_t>(v.shape(1)), out.data(),
                                    nullptr);
                });
                return std::all_of(out.data(), out.data() + out.size(),
                                   [](double value) { return std::isfinite(value); });
            },
            "x"_a.noconvert(), "vectors"_a.noconvert(), "v"_a.noconvert(), "out"_a.noconvert(),
            "K(x, columns) v into out; False where something is not finite.")
        .def(
            "top",
            [job](const Answers& self, const Rows<Number>& x, const std::vector<Column<T>>& vectors,
                  const std::optional<Column<double>>& shift, const Output<std::int64_t>& columns,
                  const Output<double>& keys) {
                require(keys.shape(0) == x.shape(0) && columns.shape(0) == keys.shape(0) &&
                            columns.shape(1) == keys.shape(1),
                        "top: both outputs must have a row for each of x.");
                require(!shift || static_cast<std::int64_t>(shift->shape(0)) == self.columns(),
                        "top: shift must have one number a column.");
                const auto found = job(self, x, vectors);
                if (!found) return false;
                run_few(*found, [&] {
                    found->top(static_cast<std::int64_t>(keys.shape(1)),
                               shift ? shift->data() : nullptr, columns.data(), keys.data(),
                               nullptr);
                });
                return found->finite();
            },
            "x"_a.noconvert(), "vectors"_a.noconvert(), "shift"_a.noconvert().none(),
            "columns"_a.noconvert(), "keys"_a.noconvert(),
            "The best columns of each row of x; False where something is not finite.");
}

template <class T>
void bind_engine_of(nb::module_& m, const char* panels_name, const char* job_name,
                    const char* packed_name, const char* answers_name) {
    using Panels = mercer::Panels<T>;
    using Job = mercer::Job<T>;

    nb::class_<Panels> panels(m, panels_name, "Points packed for the engine.");
    bind_sparse<T, float, std::int32_t>(panels);
    bind_sparse<T, float, std::int64_t>(panels);
    bind_sparse<T, double, std::int32_t>(panels);
    bind_sparse<T, double, std::int64_t>(panels);
    panels
        .def_static("pack", &pack<T, float>, "x"_a.noconvert(), "centre"_a.noconvert().none(),
                    "scale"_a.noconvert().none())
        .def_static("pack", &pack<T, double>, "x"_a.noconvert(), "centre"_a.noconvert().none(),
                    "scale"_a.noconvert().none())
        .def_prop_ro("bytes", &Panels::bytes);

    // An output array is kept alive by the call; external blocks by the job.
    struct Held {
        Job job;
        std::vector<Matrix<T>> externals;
        std::int64_t rows, columns;
    };

    nb::class_<Held>(m, job_name, "Statistics of packed points, and the program that uses them.")
        .def(
            "__init__",
            [](Held* self, std::int64_t rows, std::int64_t columns, bool same_points,
               const std::vector<int>& statistics, const std::vector<std::shared_ptr<Panels>>& left,
               const std::vector<std::shared_ptr<Panels>>& right,
               const std::vector<Column<T>>& weights, const std::vector<double>& factors,
               const std::vector<Matrix<std::int32_t>>& codes,
               const std::vector<Matrix<double>>& constants,
               const std::vector<Column<T>>& left_vectors,
               const std::vector<Column<T>>& right_vectors, const std::vector<Matrix<T>>& externals,
               const std::vector<double>& exponents) {
                require(left.size() == statistics.size() && right.size() == statistics.size() &&
                            weights.size() == statistics.size() &&
                            factors.size() == statistics.size() &&
                            (exponents.empty() || exponents.size() == statistics.size()),
                        "Job: statistics come with left, right, weights and factors.");
                require(codes.size() == constants.size(), "Job: codes come with constants.");
                std::vector<mercer::Term<T>> terms;
                for (std::size_t t = 0; t < statistics.size(); ++t) {
                    require(0 <= statistics[t] && statistics[t] < mercer::n_statistics,
                            "Job: unknown statistic.");
                    terms.push_back(
                        {static_cast<mercer::Statistic>(statistics[t]), left[t], right[t],
                         std::vector<T>(weights[t].data(), weights[t].data() + weights[t].shape(0)),
                         factors[t], exponents.empty() ? 1.0 : exponents[t]});
                }
                std::vector<std::vector<mercer::Instruction>> programs(codes.size());
                for (std::size_t p = 0; p < codes.size(); ++p) {
                    const auto& code = codes[p];
                    const auto& number = constants[p];
                    require(code.shape(1) == 4 && number.shape(1) == 2 &&
                                code.shape(0) == number.shape(0),
                            "Job: instructions are four whole numbers and two numbers each.");
                    for (std::size_t i = 0; i < code.shape(0); ++i)
                        programs[p].push_back({static_cast<mercer::Op>(code(i, 0)), code(i, 1),
                                               code(i, 2), code(i, 3), number(i, 0), number(i, 1)});
                }
                std::vector<mercer::External<T>> blocks;
                for (const auto& one : externals) {
                    require(static_cast<std::int64_t>(one.shape(0)) == rows &&
                                static_cast<std::int64_t>(one.shape(1)) == columns,
                            "Job: an external block has a wrong size.");
                    blocks.push_back({one.data(), columns});
                }
                new (self)
                    Held{Job(rows, columns, same_points, std::move(terms), std::move(programs),
                             copies(left_vectors), copies(right_vectors), std::move(blocks)),
                         externals, rows, columns};
            },
            "rows"_a, "columns"_a, "same_points"_a, "statistics"_a, "left"_a, "right"_a,
            "weights"_a.noconvert(), "factors"_a, "codes"_a.noconvert(), "constants"_a.noconvert(),
            "left_vectors"_a.noconvert(), "right_vectors"_a.noconvert(), "externals"_a.noconvert(),
            "exponents"_a = std::vector<double>())
        .def(
            "store",
            [](const Held& self, const std::vector<Output<T>>& outs,
               const std::optional<Stop>& stop) {
                std::vector<T*> places;
                for (const auto& out : outs) {
                    require(static_cast<std::int64_t>(out.shape(0)) == self.rows &&
                                static_cast<std::int64_t>(out.shape(1)) == self.columns,
                            "store: out must have the shape of the job.");
                    places.push_back(out.data());
                }
                return run(stop,
                           [&](const mercer::Poll& poll) { return self.job.store(places, poll); });
            },
            "outs"_a.noconvert(), "stop"_a.none(),
            "The matrix of each program; False if `stop` said so.")
        .def(
            "multiply",
            [](const Held& self, const Matrix<double>& v, const Output<double>& out,
               const std::optional<Stop>& stop) {
                require(static_cast<std::int64_t>(v.shape(0)) == self.columns &&
                            static_cast<std::int64_t>(out.shape(0)) == self.rows &&
                            v.shape(1) == out.shape(1),
                        "multiply: v and out must fit the job.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.job.multiply(v.data(), static_cast<std::int64_t>(v.shape(1)),
                                             out.data(), poll);
                });
            },
            "v"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "K v into out; False if `stop` said so.")
        .def(
            "normal",
            [](const Held& self, const Column<double>& weights, const Matrix<double>& v,
               const Output<double>& out, const std::optional<Stop>& stop) {
                require(static_cast<std::int64_t>(weights.shape(0)) == self.rows &&
                            static_cast<std::int64_t>(v.shape(0)) == self.columns &&
                            out.shape(0) == v.shape(0) && out.shape(1) == v.shape(1),
                        "normal: weights, v and out must fit the job.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return mercer::normal_product(self.job, weights.data(), v.data(),
                                                  static_cast<std::int64_t>(v.shape(1)), out.data(),
                                                  poll);
                });
            },
            "weights"_a.noconvert(), "v"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "K' W K v into out; False if `stop` said so.")
        .def(
            "rows",
            [](const Held& self, const Column<std::int64_t>& chosen, const Output<T>& out,
               const std::optional<Stop>& stop) {
                require(out.shape(0) == chosen.shape(0) &&
                            static_cast<std::int64_t>(out.shape(1)) == self.columns,
                        "rows: out must have one row for each that was chosen.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.job.rows(chosen.data(), static_cast<std::int64_t>(chosen.shape(0)),
                                         out.data(), poll);
                });
            },
            "chosen"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "Whole rows of K into out; False if `stop` said so.")
        .def(
            "top",
            [](const Held& self, const std::optional<Column<double>>& shift,
               const Output<std::int64_t>& columns, const Output<double>& keys,
               const std::optional<Stop>& stop) {
                require(static_cast<std::int64_t>(keys.shape(0)) == self.rows &&
                            columns.shape(0) == keys.shape(0) && columns.shape(1) == keys.shape(1),
                        "top: both outputs must have a row for each row of the job.");
                require(!shift || static_cast<std::int64_t>(shift->shape(0)) == self.columns,
                        "top: shift must have one number per column.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.job.top(static_cast<std::int64_t>(keys.shape(1)),
                                        shift ? shift->data() : nullptr, columns.data(),
                                        keys.data(), poll);
                });
            },
            "shift"_a.noconvert().none(), "columns"_a.noconvert(), "keys"_a.noconvert(),
            "stop"_a.none(), "The best columns of each row; False if `stop` said so.")
        .def_prop_ro(
            "finite", [](const Held& self) { return self.job.finite(); },
            "Whether every kernel value computed so far was a finite number.");

    using Answers = mercer::Answers<T>;
    nb::class_<Answers> answers(m, answers_name, "Answers for a few new rows, all else prepared.");
    answers.def(
        "__init__",
        [](Answers* self, const Held& pattern, const std::vector<Numbers>& centres,
           const std::vector<Numbers>& scales) {
            require(centres.size() == scales.size(), "Answers: centres come with scales.");
            const auto numbers = [](const Numbers& given) {
                return given ? std::vector<double>(given->data(), given->data() + given->size())
                             : std::vector<double>();
            };
            std::vector<typename Answers::Frame> frames;
            for (std::size_t t = 0; t < centres.size(); ++t)
                frames.push_back({numbers(centres[t]), numbers(scales[t])});
            new (self) Answers(pattern.job, std::move(frames));
        },
        "pattern"_a, "centres"_a.noconvert(), "scales"_a.noconvert());
    bind_answers<T, T>(answers);
    bind_answers<T, std::conditional_t<std::is_same_v<T, float>, double, float>>(answers);

    using Packed = mercer::Packed<T>;
    nb::class_<Packed>(m, packed_name, "A symmetric matrix, half of it kept.")
        .def_static(
            "make",
            [](const Held& held, bool narrow, std::int64_t most, const std::optional<Stop>& stop) {
                std::unique_ptr<Packed> made;
                run(stop, [&](const mercer::Poll& poll) {
                    made = std::make_unique<Packed>(held.job, narrow, most, poll);
                    return made->complete();
                });
                return made;
            },
            "job"_a, "narrow"_a, "most"_a, "stop"_a.none(),
            "The matrix of a job on one collection of points; narrow keeps 16 bits per number. "
            "Blocks that do not fit `most` bytes are computed anew in every product.")
        .def_prop_ro("complete", &Packed::complete)
        .def_prop_ro("bytes", &Packed::bytes)
        .def_prop_ro("error", &Packed::error)
        .def(
            "multiply",
            [](const Packed& self, const Matrix<double>& v, const Output<double>& out,
               const std::optional<Stop>& stop) {
                require(static_cast<std::int64_t>(v.shape(0)) == self.size() &&
                            out.shape(0) == v.shape(0) && v.shape(1) == out.shape(1),
                        "multiply: v and out must fit the matrix.");
                return run(stop, [&](const mercer::Poll& poll) {
                    return self.multiply(v.data(), static_cast<std::int64_t>(v.shape(1)),
                                         out.data(), poll);
                });
            },
            "v"_a.noconvert(), "out"_a.noconvert(), "stop"_a.none(),
            "K v into out; False if `stop` said so.")
        .def(
            "rows",
            [](const Packed& self, const Column<std::int64_t>& chosen, const Output<T>& out) {
                require(out.shape(0) == chosen.shape(0) &&
                            static_cast<std::int64_t>(out.shape(1)) == self.size(),
                        "rows: out must have one row for each that was chosen.");
                const nb::gil_scoped_release release;
                self.rows(chosen.data(), static_cast<std::int64_t>(chosen.shape(0)), out.data());
            },
            "chosen"_a.noconvert(), "out"_a.noconvert(), "Whole rows of K into out.");

    m.def(
        "normal_product",
        [](const Matrix<T>& K, const Column<double>& weights, const Matrix<double>& v,
           const Output<double>& out, const std::optional<Stop>& stop) {
            require(weights.shape(0) == K.shape(0) && v.shape(0) == K.shape(1) &&
                        out.shape(0) == v.shape(0) && out.shape(1) == v.shape(1),
                    "normal_product: weights, v and out must fit the matrix.");
            const mercer::Stored<T> matrix{K.data(), static_cast<std::int64_t>(K.shape(0)),
                                           static_cast<std::int64_t>(K.shape(1))};
            return run(stop, [&](const mercer::Poll& poll) {
                return mercer::normal_product(matrix, weights.data(), v.data(),
                                              static_cast<std::int64_t>(v.shape(1)), out.data(),
                                              poll);
            });
        },
        "K"_a.noconvert(), "weights"_a.noconvert(), "v"_a.noconvert(), "out"_a.noconvert(),
        "stop"_a.none(), "K' W K v into out; False if `stop` said so.");
}

}  // namespace

void bind_engine(nb::module_& m) {
    m.attr("MAX_REGISTERS") = mercer::max_registers;
    m.attr("MAX_TERMS") = mercer::max_terms;
    bind_engine_of<float>(m, "Panels32", "Job32", "Packed32", "Answers32");
    bind_engine_of<double>(m, "Panels64", "Job64", "Packed64", "Answers64");
}
