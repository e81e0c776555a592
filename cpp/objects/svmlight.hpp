// Rows of sparse numbers in the text format of SVMlight and LIBSVM:
//
//   label [qid:number] index:value index:value ... # comment
#pragma once

#include <cstdint>
#include <vector>

#include "system/pool.hpp"

namespace mercer {

enum class SvmlightProblem { none, label, query, pair, index, order, value, infinite };

// The first thing wrong with a text: in which line, counted from 0, and which bytes it is.
struct SvmlightMistake {
    SvmlightProblem problem = SvmlightProblem::none;
    std::int64_t line = 0;
    std::int64_t begin = 0, end = 0;
};

// What a stretch of whole lines holds; ends: behind the last entry of each row.
struct SvmlightPiece {
    std::vector<double> labels;
    std::vector<std::int64_t> ends;
    std::vector<std::int32_t> indices;
    std::vector<double> values;
    std::int64_t lines = 0;
    std::int64_t zero_line = -1;  // the first line with an index 0
    std::int32_t highest = -1;    // index
    bool has_queries = false;
    SvmlightMistake mistake;
};

class SvmlightRows {
public:
    // Reads a text, whatever its bytes are, up to the first mistake in it; false if poll asked to
    // stop. What was read before is forgotten.
    bool read(const char* text, std::int64_t size, const Poll& poll);

    std::int64_t rows() const { return rows_; }
    std::int64_t entries() const { return entries_; }
    std::int64_t lines() const { return lines_; }
    std::int64_t zero_line() const { return zero_line_; }
    std::int32_t highest() const { return highest_; }
    bool has_queries() const { return has_queries_; }
    const SvmlightMistake& mistake() const { return mistake_; }

    // Copies what was read to where there is room for it, and forgets it: rows() labels, rows() + 1
    // ends of which the first is 0, entries() columns, each an index less `base`, and values.
    bool take(double* labels, std::int64_t* ends, std::int32_t* columns, double* values,
              std::int32_t base, const Poll& poll);

private:
    void sum_up();

    std::vector<SvmlightPiece> pieces_;
    std::int64_t rows_ = 0, entries_ = 0, lines_ = 0, zero_line_ = -1;
    std::int32_t highest_ = -1;
    bool has_queries_ = false;
    SvmlightMistake mistake_;
};

}  // namespace mercer
