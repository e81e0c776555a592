// The reader of SVMlight's text for Python.
#include "objects/svmlight.hpp"

#include <nanobind/stl/string_view.h>
#include <nanobind/stl/tuple.h>

#include <string_view>
#include <tuple>

#include "bind/arrays.hpp"

namespace {

using Mistake = std::tuple<std::string_view, std::int64_t, std::int64_t, std::int64_t>;

std::optional<Mistake> mistake(const mercer::SvmlightRows& rows) {
    using enum mercer::SvmlightProblem;
    const mercer::SvmlightMistake& found = rows.mistake();
    const auto told = [&found](std::string_view name) {
        return Mistake{name, found.line, found.begin, found.end};
    };
    switch (found.problem) {
        case none:
            return std::nullopt;
        case label:
            return told("label");
        case query:
            return told("query");
        case pair:
            return told("pair");
        case index:
            return told("index");
        case order:
            return told("order");
        case value:
            return told("value");
        case infinite:
            return told("infinite");
    }
    return std::nullopt;
}

}  // namespace

void bind_svmlight(nb::module_& m) {
    using mercer::SvmlightRows;
    using Numbers = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Ends = nb::ndarray<std::int64_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    using Places = nb::ndarray<std::int32_t, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
    nb::class_<SvmlightRows>(m, "SvmlightRows", "Rows read from the text format of SVMlight.")
        .def(nb::init<>())
        .def(
            "read",
            [](SvmlightRows& self, const Column<std::uint8_t>& text) {
                return run(std::nullopt, [&](const mercer::Poll& poll) {
                    return self.read(reinterpret_cast<const char*>(text.data()),
                                     static_cast<std::int64_t>(text.shape(0)), poll);
                });
            },
            "text"_a.noconvert(), "Read a text up to the first mistake in it.")
        .def_prop_ro("rows", &SvmlightRows::rows)
        .def_prop_ro("entries", &SvmlightRows::entries)
        .def_prop_ro("lines", &SvmlightRows::lines)
        .def_prop_ro("zero_line", &SvmlightRows::zero_line, "The first with an index 0, or -1.")
        .def_prop_ro("highest", &SvmlightRows::highest, "The highest index, or -1.")
        .def_prop_ro("has_queries", &SvmlightRows::has_queries)
        .def_prop_ro("mistake", &mistake,
                     "What is wrong, in which line counted from 0, from which byte to which.")
        .def(
            "take",
            [](SvmlightRows& self, const Numbers& labels, const Ends& ends, const Places& columns,
               const Numbers& values, std::int32_t base) {
                require(self.mistake().problem == mercer::SvmlightProblem::none,
                        "take: the text must be right.");
                require(static_cast<std::int64_t>(labels.shape(0)) == self.rows() &&
                            static_cast<std::int64_t>(ends.shape(0)) == self.rows() + 1 &&
                            static_cast<std::int64_t>(columns.shape(0)) == self.entries() &&
                            static_cast<std::int64_t>(values.shape(0)) == self.entries(),
                        "take: there must be room for what was read.");
                require(base == 0 || (base == 1 && self.zero_line() < 0),
                        "take: base must be 0, or 1 where no index is 0.");
                return run(std::nullopt, [&](const mercer::Poll& poll) {
                    return self.take(labels.data(), ends.data(), columns.data(), values.data(),
                                     base, poll);
                });
            },
            "labels"_a.noconvert(), "ends"_a.noconvert(), "columns"_a.noconvert(),
            "values"_a.noconvert(), "base"_a,
            "Copy what was read into arrays, with `base` taken from each index, and forget it.");
}
