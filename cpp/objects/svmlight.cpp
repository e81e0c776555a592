#include "objects/svmlight.hpp"

#include <algorithm>
#include <charconv>
#include <cstring>
#include <limits>
#include <string_view>

#if !defined(__cpp_lib_to_chars)
#include <locale>
#include <sstream>
#include <string>
#endif

namespace mercer {

namespace {

constexpr std::int64_t bytes_at_once = 1 << 20;
constexpr std::int64_t bytes_of_an_entry = 8;  // or more, in most texts
constexpr std::int64_t largest_index = std::numeric_limits<std::int32_t>::max() - 1;
constexpr std::int64_t largest_exponent = 100000;  // in words: any beyond it is as good

bool is_digit(char c) {
    return c >= '0' && c <= '9';
}

bool is_blank(char c) {
    return c == ' ' || (c >= '\t' && c <= '\r' && c != '\n');
}

// --- numbers ------------------------------------------------------------------------------------

// The power of ten of the leading digit, for a number as below that is not 0.
std::int64_t magnitude(const char* first, const char* last, std::int64_t exponent) {
    const char* point = std::find_if_not(first, last, is_digit);
    const char* lead = std::find_if(first, last, [](char c) { return is_digit(c) && c != '0'; });
    return exponent + (lead < point ? point - lead - 1 : point - lead);
}

// The nearest double to digits of any number, with a point and an exponent or without: infinity or
// 0 where it has no room for them.
double read_long_number(const char* first, const char* last, std::int64_t exponent) {
    double value = 0.0;
#if defined(__cpp_lib_to_chars)
    const bool fits = std::from_chars(first, last, value).ec == std::errc();
#else
    std::istringstream stream(std::string(first, last));
    stream.imbue(std::locale::classic());
    const bool fits = static_cast<bool>(stream >> value);
#endif
    if (fits) return value;
    return magnitude(first, last, exponent) > 0 ? std::numeric_limits<double>::infinity() : 0.0;
}

// Reads a decimal number at `p`; returns where it ends, or nullptr where there is none.
const char* read_number(const char* p, const char* last, double& value) {
    // Whole numbers and powers of ten that are doubles have products and ratios that are rounded
    // once, and so as they must be.
    constexpr std::uint64_t exact = std::uint64_t{1} << 53;
    constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,
                                 1e8,  1e9,  1e10, 1e11, 1e12, 1e13, 1e14, 1e15,
                                 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
    const bool is_negative = p < last && *p == '-';
    if (p < last && (*p == '-' || *p == '+')) ++p;
    const char* const first = p;
    std::uint64_t digits = 0;  // right for up to 19 of them
    for (; p < last && is_digit(*p); ++p) digits = digits * 10 + static_cast<unsigned>(*p - '0');
    std::int64_t count = p - first, decimals = 0;
    if (p < last && *p == '.') {
        const char* const point = ++p;
        for (; p < last && is_digit(*p); ++p)
            digits = digits * 10 + static_cast<unsigned>(*p - '0');
        decimals = p - point;
        count += decimals;
    }
    if (count == 0) return nullptr;
    std::int64_t exponent = 0;
    if (p < last && (*p == 'e' || *p == 'E')) {
        const char* q = p + 1;
        const bool is_small = q < last && *q == '-';
        if (q < last && (*q == '-' || *q == '+')) ++q;
        if (q == last || !is_digit(*q)) return nullptr;
        for (; q < last && is_digit(*q); ++q)
            exponent = std::min(exponent * 10 + (*q - '0'), largest_exponent);
        if (is_small) exponent = -exponent;
        p = q;
    }
    const std::int64_t shift = exponent - decimals;
    if (count <= 19 && digits == 0)
        value = 0.0;
    else if (count <= 19 && digits <= exact && -22 <= shift && shift <= 22)
        value = shift < 0 ? static_cast<double>(digits) / powers[-shift]
                          : static_cast<double>(digits) * powers[shift];
    else
        value = read_long_number(first, p, exponent);
    if (is_negative) value = -value;
    return p;
}

// --- lines --------------------------------------------------------------------------------------

// Reads the lines of one stretch of the text into a piece.
class Reader {
public:
    Reader(const char* text, const char* first, const char* last, SvmlightPiece& piece)
        : text_(text), p_(first), last_(last), piece_(piece) {}

    void read() {
        while (p_ < last_) {
            skip_blanks();
            if (!at_end() && !read_row()) return;
            const void* found =
                p_ < last_ ? std::memchr(p_, '\n', static_cast<std::size_t>(last_ - p_)) : nullptr;
            p_ = found == nullptr ? last_ : static_cast<const char*>(found) + 1;
            ++piece_.lines;
        }
    }

private:
    // Whether nothing follows in this line but a comment.
    bool at_end() const { return p_ == last_ || *p_ == '\n' || *p_ == '#'; }

    bool is_over(const char* p) const {
        return p == last_ || is_blank(*p) || *p == '\n' || *p == '#';
    }

    void skip_blanks() {
        while (p_ < last_ && is_blank(*p_)) ++p_;
    }

    // Notes what is wrong with the word at `word`.
    bool fail(SvmlightProblem problem, const char* word) {
        const char* end = word;
        while (!is_over(end)) ++end;
        piece_.mistake = {problem, piece_.lines, word - text_, end - text_};
        return false;
    }

    // Reads a finite number that ends its word.
    bool read_value(double& value, SvmlightProblem problem, const char* word) {
        const char* const end = read_number(p_, last_, value);
        if (end == nullptr || !is_over(end)) return fail(no_number(problem), word);
        if (value - value != 0.0) return fail(SvmlightProblem::infinite, word);
        p_ = end;
        return true;
    }

    // Whether what stands where a number should is one that is not finite, such as "-inf".
    SvmlightProblem no_number(SvmlightProblem problem) const {
        const char* p = p_ < last_ && (*p_ == '-' || *p_ == '+') ? p_ + 1 : p_;
        for (const std::string_view name : {"nan", "inf"}) {
            const bool same =
                last_ - p >= 3 && std::equal(name.begin(), name.end(), p,
                                             [](char a, char b) { return a == b || a == b + 32; });
            if (same) return SvmlightProblem::infinite;
        }
        return problem;
    }

    bool read_row() {
        double label = 0.0;
        if (!read_value(label, SvmlightProblem::label, p_)) return false;
        skip_blanks();
        if (last_ - p_ >= 4 && std::memcmp(p_, "qid:", 4) == 0 && !read_query()) return false;
        std::int64_t previous = -1;
        while (!at_end()) {
            if (!read_entry(previous)) return false;
            skip_blanks();
        }
        piece_.labels.push_back(label);
        piece_.ends.push_back(static_cast<std::int64_t>(piece_.indices.size()));
        return true;
    }

    bool read_query() {
        const char* end = p_ + 4;
        while (end < last_ && is_digit(*end)) ++end;
        if (end == p_ + 4 || !is_over(end)) return fail(SvmlightProblem::query, p_);
        piece_.has_queries = true;
        p_ = end;
        skip_blanks();
        return true;
    }

    bool read_entry(std::int64_t& previous) {
        const char* const word = p_;
        std::int64_t index = 0;
        for (; p_ < last_ && is_digit(*p_) && index <= largest_index; ++p_)
            index = index * 10 + (*p_ - '0');
        if (p_ == word || p_ == last_ || *p_ != ':' || index > largest_index)
            return fail(has_colon(word) ? SvmlightProblem::index : SvmlightProblem::pair, word);
        if (index <= previous) return fail(SvmlightProblem::order, word);
        ++p_;
        double value = 0.0;
        if (!read_value(value, SvmlightProblem::value, word)) return false;
        previous = index;
        piece_.indices.push_back(static_cast<std::int32_t>(index));
        piece_.values.push_back(value);
        piece_.highest = std::max(piece_.highest, static_cast<std::int32_t>(index));
        if (index == 0 && piece_.zero_line < 0) piece_.zero_line = piece_.lines;
        return true;
    }

    bool has_colon(const char* word) const {
        while (!is_over(word) && *word != ':') ++word;
        return word < last_ && *word == ':';
    }

    const char* text_;
    const char* p_;
    const char* last_;
    SvmlightPiece& piece_;
};

// Where the first line starts at or after a place.
const char* line_start(const char* text, std::int64_t size, std::int64_t place) {
    if (place <= 0) return text;
    if (place >= size) return text + size;
    const void* found =
        std::memchr(text + place - 1, '\n', static_cast<std::size_t>(size - place) + 1);
    return found == nullptr ? text + size : static_cast<const char*>(found) + 1;
}

}  // namespace

bool SvmlightRows::read(const char* text, std::int64_t size, const Poll& poll) {
    const std::int64_t count = (size + bytes_at_once - 1) / bytes_at_once;
    pieces_.assign(static_cast<std::size_t>(count), {});
    const auto read_piece = [&](std::int64_t task, int) {
        const char* const first = line_start(text, size, task * bytes_at_once);
        const char* const last = line_start(text, size, (task + 1) * bytes_at_once);
        SvmlightPiece& piece = pieces_[static_cast<std::size_t>(task)];
        const auto likely = static_cast<std::size_t>((last - first) / bytes_of_an_entry);
        piece.indices.reserve(likely);
        piece.values.reserve(likely);
        Reader(text, first, last, piece).read();
    };
    const bool done = parallel_for(count, read_piece, poll, count == 1);
    sum_up();
    return done;
}

void SvmlightRows::sum_up() {
    rows_ = entries_ = lines_ = 0;
    zero_line_ = highest_ = -1;
    has_queries_ = false;
    mistake_ = {};
    for (const SvmlightPiece& piece : pieces_) {
        if (zero_line_ < 0 && piece.zero_line >= 0) zero_line_ = lines_ + piece.zero_line;
        if (piece.mistake.problem != SvmlightProblem::none) {
            mistake_ = piece.mistake;
            mistake_.line += lines_;
            return;
        }
        rows_ += static_cast<std::int64_t>(piece.labels.size());
        entries_ += static_cast<std::int64_t>(piece.indices.size());
        lines_ += piece.lines;
        highest_ = std::max(highest_, piece.highest);
        has_queries_ = has_queries_ || piece.has_queries;
    }
}

bool SvmlightRows::take(double* labels, std::int64_t* ends, std::int32_t* columns, double* values,
                        std::int32_t base, const Poll& poll) {
    std::vector<std::int64_t> first_rows{0}, first_entries{0};
    for (const SvmlightPiece& piece : pieces_) {
        first_rows.push_back(first_rows.back() + static_cast<std::int64_t>(piece.labels.size()));
        first_entries.push_back(first_entries.back() +
                                static_cast<std::int64_t>(piece.indices.size()));
    }
    ends[0] = 0;
    const auto copy_piece = [&](std::int64_t task, int) {
        const auto t = static_cast<std::size_t>(task);
        const SvmlightPiece piece = std::move(pieces_[t]);  // its memory is free when it is copied
        const std::int64_t row = first_rows[t], entry = first_entries[t];
        std::copy(piece.labels.begin(), piece.labels.end(), labels + row);
        std::transform(piece.ends.begin(), piece.ends.end(), ends + row + 1,
                       [entry](std::int64_t end) { return end + entry; });
        std::transform(piece.indices.begin(), piece.indices.end(), columns + entry,
                       [base](std::int32_t index) { return index - base; });
        std::copy(piece.values.begin(), piece.values.end(), values + entry);
    };
    const auto count = static_cast<std::int64_t>(pieces_.size());
    const bool done = parallel_for(count, copy_piece, poll, count == 1);
    pieces_.clear();
    sum_up();
    return done;
}

}  // namespace mercer
