#include "engine/engine.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <string>
#include <utility>

#include "system/cpu.hpp"

namespace mercer {
namespace {

constexpr std::int64_t row_panels = 8;         // of a tile; half as many of wide ones
constexpr std::int64_t column_panels = 16;     // of a tile; half as many of wide ones
constexpr std::int64_t wide = 128;             // bytes per column of a wide panel
constexpr std::int64_t columns_at_once = 160;  // of the points, so that two panels stay in L1
constexpr double program_cost = 16;            // of a value, in products of two numbers
constexpr double alone_below = 1 << 20;        // products: some 100 microseconds

// What rounding may do to a kernel value.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-6 : 5e-14;

// So that a tile stays in the second cache: panels of the widest vectors are twice as wide.
template <class T>
std::int64_t points_of(std::int64_t panels) {
    const std::int64_t width = kernels<T>().width;
    return width * static_cast<std::int64_t>(sizeof(T)) > wide ? width * panels / 2
                                                               : width * panels;
}

void require(bool holds, const char* sentence) {
    if (!holds) throw std::invalid_argument(std::string("Job: ") + sentence);
}

}  // namespace

template <class T>
Job<T>::Job(std::int64_t rows, std::int64_t columns, bool same_points, std::vector<Term<T>> terms,
            std::vector<std::vector<Instruction>> programs,
            std::vector<std::vector<T>> left_vectors, std::vector<std::vector<T>> right_vectors,
            std::vector<External<T>> externals)
    : rows_(rows),
      columns_(columns),
      same_points_(same_points),
      terms_(std::move(terms)),
      programs_(std::move(programs)),
      left_(std::move(left_vectors)),
      right_(std::move(right_vectors)),
      externals_(std::move(externals)),
      tile_rows_(points_of<T>(row_panels)),
      tile_columns_(points_of<T>(column_panels)) {
    const auto limit = static_cast<std::size_t>(max_terms);
    require(rows >= 0 && columns >= 0, "sizes must not be negative.");
    require(terms_.size() <= limit && left_.size() <= limit && right_.size() <= limit &&
                externals_.size() <= limit,
            "at most 8 statistics, vectors and blocks.");
    for (const auto& term : terms_) {
        require(term.left && term.right, "every statistic needs its points.");
        require(term.left->rows() == rows && term.right->rows() == columns,
                "the points of a statistic must be those of the job.");
        require(term.left->columns() == term.right->columns(),
                "both sides must have the same columns.");
        require(term.statistic != Statistic::unequal ||
                    static_cast<std::int64_t>(term.weights.size()) == term.left->columns(),
                "mismatches need one weight per column.");
        require(term.exponent > 0, "an exponent must be above 0.");
    }
    for (auto& vector : left_)
        require(static_cast<std::int64_t>(vector.size()) == rows, "a row vector has a wrong size.");
    for (auto& vector : right_) {
        require(static_cast<std::int64_t>(vector.size()) == columns,
                "a column vector has a wrong size.");
        vector.resize(static_cast<std::size_t>(round_up(columns, tile_columns_)), T(0));
    }
    require(!programs_.empty(), "there must be a program.");
    for (const auto& program : programs_) {
        require(!program.empty(), "a program must not be empty.");
        for (const auto& step : program) check(step);
    }
}

template <class T>
void Job<T>::check(const Instruction& step) const {
    const auto reg = [](int r) { return 0 <= r && r < max_registers; };
    const auto in = [&](std::size_t size) {
        return 0 <= step.a && static_cast<std::size_t>(step.a) < size;
    };
    const int op = static_cast<int>(step.op);
    require(0 <= op && op < n_ops && reg(step.out), "unknown instruction or register.");
    switch (step.op) {
        case Op::statistic:
        case Op::expanded:
            require(in(terms_.size()), "unknown statistic.");
            break;
        case Op::external:
            require(in(externals_.size()), "unknown block.");
            break;
        case Op::left:
            require(in(left_.size()), "unknown row vector.");
            break;
        case Op::right:
            require(in(right_.size()), "unknown column vector.");
            break;
        case Op::constant:
            break;
        default:
            require(reg(step.a) && reg(step.b), "unknown register.");
    }
}

template <class T>
bool Job<T>::small() const {
    double each = program_cost * static_cast<double>(programs_.size());
    for (const auto& term : terms_) each += static_cast<double>(term.left->columns());
    return static_cast<double>(rows_) * static_cast<double>(columns_) * each <= alone_below;
}

template <class T>
std::vector<typename Job<T>::Scratch> Job<T>::scratches(std::int64_t workers) const {
    const std::int64_t tall = std::min(tile_rows_, round_up(rows_, kernels<T>().width));
    std::vector<Scratch> all(static_cast<std::size_t>(workers));
    for (auto& one : all) {
        for (std::size_t t = 0; t < terms_.size(); ++t)
            one.tiles.push_back(aligned<T>(tall * tile_columns_));
        one.registers = aligned<T>(max_registers * tile_columns_);
        one.values = aligned<T>(tall * tile_columns_);
        one.finished.assign(terms_.size(), false);
    }
    return all;
}

// Whether the rounding of |x|^2 + |y|^2 - 2 x.y in this block is too small to matter.
template <class T>
bool Job<T>::expands(const Term<T>& term, const Block& block) const {
    const std::int64_t width = kernels<T>().width;
    double left = 0, right = 0;
    for (std::int64_t i = 0; i < block.rows; i += width)
        left = std::max(left, term.left->largest((block.row + i) / width));
    for (std::int64_t j = 0; j < block.columns; j += width)
        right = std::max(right, term.right->largest((block.column + j) / width));
    const double rounding = 2.0 * static_cast<double>(std::numeric_limits<T>::epsilon());
    return term.factor > 0 && rounding * term.factor * (left + right) / 2 <= tolerance<T>;
}

template <class T>
void Job<T>::statistics(const Block& block, bool upper, Scratch& scratch) const {
    const auto& table = kernels<T>();
    const std::int64_t width = table.width;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
        const Term<T>& term = terms_[t];
        T* tile = scratch.tiles[t].get();
        Statistic wanted = term.statistic;
        scratch.finished[t] = true;
        if (wanted == Statistic::squared && expands(term, block)) {
            wanted = Statistic::dot;
            scratch.finished[t] = false;
        }
        const auto sum = table.statistic[static_cast<int>(wanted)];
        const auto exponent = static_cast<T>(term.exponent);
        const std::int64_t depth = term.left->columns();
        const std::int64_t passes =
            std::max<std::int64_t>((depth + columns_at_once - 1) / columns_at_once, 1);
        for (std::int64_t pass = 0; pass < passes; ++pass) {
            const std::int64_t from = depth * pass / passes, to = depth * (pass + 1) / passes;
            const T* weights = term.weights.empty() ? nullptr : term.weights.data() + from;
            for (std::int64_t j = 0; j < block.columns; j += width) {
                const T* b = term.right->panel((block.column + j) / width) + from * width;
                for (std::int64_t i = 0; i < block.rows; i += width) {
                    if (upper && block.column + j + width <= block.row + i) continue;
                    const std::int64_t row = block.row + i;
                    const T* a = term.left->panel(row / width) + from * width + row % width;
                    sum(a, b, to - from, weights, exponent, tile + i * tile_columns_ + j,
                        tile_columns_, pass == 0, block.rows - i);
                }
            }
        }
        // min, max and comparisons lose a NaN; put it back.
        constexpr T nan = std::numeric_limits<T>::quiet_NaN();
        for (const std::int64_t i : term.left->missing_rows())
            if (block.row <= i && i < block.row + block.rows)
                std::fill_n(tile + (i - block.row) * tile_columns_, block.columns, nan);
        for (const std::int64_t j : term.right->missing_rows())
            if (block.column <= j && j < block.column + block.columns)
                for (std::int64_t i = 0; i < block.rows; ++i)
                    tile[i * tile_columns_ + (j - block.column)] = nan;
    }
}

template <class T>
const T* Job<T>::evaluate(const Block& block, bool upper, Scratch& scratch, bool look) const {
    statistics(block, upper, scratch);
    values(programs_.front(), block, scratch, scratch.values.get(), tile_columns_);
    if (look) this->look(block, upper, scratch.values.get(), tile_columns_);
    return scratch.values.get();
}

template <class T>
void Job<T>::values(const std::vector<Instruction>& program, const Block& block, Scratch& scratch,
                    T* into, std::int64_t stride) const {
    const auto& table = kernels<T>();
    RowInputs<T> row{};
    row.count = block.columns;
    for (std::size_t t = 0; t < terms_.size(); ++t) {
        row.norms_right[t] = terms_[t].right->norms() + block.column;
        row.finished[t] = scratch.finished[t];
    }
    for (std::size_t v = 0; v < right_.size(); ++v) row.right[v] = right_[v].data() + block.column;
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t point = block.row + i;
        for (std::size_t t = 0; t < terms_.size(); ++t) {
            row.statistics[t] = scratch.tiles[t].get() + i * tile_columns_;
            row.norm_left[t] = terms_[t].left->norms()[point];
        }
        for (std::size_t v = 0; v < left_.size(); ++v)
            row.left[v] = left_[v][static_cast<std::size_t>(point)];
        for (std::size_t e = 0; e < externals_.size(); ++e)
            row.externals[e] = externals_[e].values + point * externals_[e].stride + block.column;
        std::int64_t own = same_points_ ? point - block.column : -1;
        if (!own_column_.empty()) own = own_column_[static_cast<std::size_t>(point)] - block.column;
        row.diagonal = 0 <= own && own < block.columns ? own : -1;
        table.run(program.data(), static_cast<int>(program.size()), row, scratch.registers.get(),
                  tile_columns_, into + i * stride);
    }
}

// Notes whether a block holds a value that is not finite, while it is in cache.
template <class T>
void Job<T>::look(const Block& block, bool upper, const T* values, std::int64_t stride) const {
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t own = block.row + i - block.column;
        const std::int64_t from = upper ? std::clamp<std::int64_t>(own, 0, block.columns) : 0;
        if (!kernels<T>().finite(values + i * stride + from, block.columns - from))
            finite_->store(false, std::memory_order_relaxed);
    }
}

// Of the same points, the blocks that reach the diagonal or lie above it.
template <class T>
std::vector<Block> Job<T>::block_list() const {
    std::vector<Block> blocks;
    for (std::int64_t i = 0; i < rows_; i += tile_rows_)
        for (std::int64_t j = 0; j < columns_; j += tile_columns_)
            if (!same_points_ || j + tile_columns_ > i)
                blocks.push_back(
                    {i, j, std::min(tile_rows_, rows_ - i), std::min(tile_columns_, columns_ - j)});
    return blocks;
}

template <class T>
bool Job<T>::store(const std::vector<T*>& outs, const Poll& poll) const {
    require(outs.size() == programs_.size(), "there must be one matrix for each program.");
    const bool alone = small();
    auto scratch = scratches(alone ? 1 : num_threads());
    const auto blocks = block_list();
    return parallel_for(
        static_cast<std::int64_t>(blocks.size()),
        [&](std::int64_t task, int worker) {
            const Block& block = blocks[static_cast<std::size_t>(task)];
            Scratch& own = scratch[static_cast<std::size_t>(worker)];
            statistics(block, same_points_, own);
            // Whole vectors of a block that needs no mirror image go where they belong at once.
            const bool there = !same_points_ && block.columns == tile_columns_;
            for (std::size_t p = 0; p < programs_.size(); ++p) {
                T* corner = outs[p] + block.row * columns_ + block.column;
                T* into = there ? corner : own.values.get();
                const std::int64_t stride = there ? columns_ : tile_columns_;
                values(programs_[p], block, own, into, stride);
                look(block, same_points_, into, stride);
                if (!there) store_block(block, own.values.get(), outs[p]);
            }
        },
        poll, alone);
}

template <class T>
void Job<T>::store_block(const Block& block, const T* values, T* out) const {
    if (same_points_ && block.column < block.row + block.rows) {
        store_at_diagonal(block, values, out);
        return;
    }
    for (std::int64_t i = 0; i < block.rows; ++i)
        std::copy_n(values + i * tile_columns_, block.columns,
                    out + (block.row + i) * columns_ + block.column);
    if (same_points_)
        kernels<T>().transpose(values, tile_columns_, block.rows, block.columns,
                               out + block.column * columns_ + block.row, columns_);
}

// A block that the diagonal runs through: what lies above it, and its mirror image.
template <class T>
void Job<T>::store_at_diagonal(const Block& block, const T* values, T* out) const {
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t point = block.row + i;
        for (std::int64_t j = std::max<std::int64_t>(point - block.column, 0); j < block.columns;
             ++j) {
            out[point * columns_ + block.column + j] = values[i * tile_columns_ + j];
            out[(block.column + j) * columns_ + point] = values[i * tile_columns_ + j];
        }
    }
}

template <class T>
bool Job<T>::multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const {
    const bool alone = small();
    const auto blocks = block_list();
    const auto workers = std::min<std::int64_t>(num_threads(), std::ssize(blocks));
    auto scratch = scratches(alone ? 1 : workers);
    Product<T> product(rows_, columns_, same_points_, v, count, tile_rows_, tile_columns_, workers);
    const bool done = parallel_in_turn(
        static_cast<std::int64_t>(blocks.size()),
        [&](std::int64_t task, int worker) {
            const Block& block = blocks[static_cast<std::size_t>(task)];
            Scratch& own = scratch[alone ? 0 : static_cast<std::size_t>(worker)];
            product.add(block, evaluate(block, same_points_, own, false), nullptr, worker);
        },
        poll, alone);
    if (done) product.finish(out);
    return done;
}

template <class T>
bool Job<T>::rows(const std::int64_t* chosen, std::int64_t count, T* out, const Poll& poll) const {
    for (std::int64_t i = 0; i < count; ++i)
        require(0 <= chosen[i] && chosen[i] < rows_, "a chosen row must exist.");
    std::vector<std::shared_ptr<const Panels<T>>> panels;
    for (const auto& term : terms_)
        panels.push_back(std::make_shared<const Panels<T>>(*term.left, chosen, count));
    std::vector<std::vector<T>> vectors;
    for (const auto& vector : left_) {
        vectors.emplace_back();
        for (std::int64_t i = 0; i < count; ++i)
            vectors.back().push_back(vector[static_cast<std::size_t>(chosen[i])]);
    }
    Job part = with_rows(count, panels, std::move(vectors));
    part.finite_ = finite_;
    if (same_points_) part.own_column_.assign(chosen, chosen + count);
    return part.store({out}, poll);
}

template <class T>
Job<T> Job<T>::with_rows(std::int64_t rows,
                         const std::vector<std::shared_ptr<const Panels<T>>>& left,
                         std::vector<std::vector<T>> left_vectors) const {
    require(externals_.empty(), "a part of this kernel is computed elsewhere.");
    require(left.size() == terms_.size(), "new rows must be packed for every statistic.");
    std::vector<Term<T>> terms = terms_;
    for (std::size_t t = 0; t < terms.size(); ++t) terms[t].left = left[t];
    std::vector<std::vector<T>> right = right_;
    for (auto& vector : right) vector.resize(static_cast<std::size_t>(columns_));
    return Job(rows, columns_, false, std::move(terms), {programs_.front()},
               std::move(left_vectors), std::move(right), {});
}

template <class T>
bool Job<T>::top(std::int64_t count, const double* shift, std::int64_t* columns, double* keys,
                 const Poll& poll) const {
    require(1 <= count && count <= columns_, "count must be from 1 to the number of columns.");
    const bool alone = small();
    auto scratch = scratches(alone ? 1 : num_threads());
    using Found = std::pair<double, std::int64_t>;  // compared in this order
    return parallel_for(
        (rows_ + tile_rows_ - 1) / tile_rows_,
        [&](std::int64_t task, int worker) {
            const std::int64_t row = task * tile_rows_, rows = std::min(tile_rows_, rows_ - row);
            // For each row a heap whose first element is the worst that is kept.
            std::vector<std::vector<Found>> best(static_cast<std::size_t>(rows));
            for (std::int64_t j = 0; j < columns_; j += tile_columns_) {
                const Block block{row, j, rows, std::min(tile_columns_, columns_ - j)};
                const T* values = evaluate(block, false, scratch[static_cast<std::size_t>(worker)]);
                for (std::int64_t i = 0; i < rows; ++i) {
                    auto& heap = best[static_cast<std::size_t>(i)];
                    const T* line = values + i * tile_columns_;
                    for (std::int64_t c = 0; c < block.columns; ++c) {
                        const double value = static_cast<double>(line[c]);
                        double key = shift == nullptr ? -value : shift[j + c] - 2 * value;
                        if (std::isnan(key)) key = std::numeric_limits<double>::infinity();
                        const auto full = static_cast<std::int64_t>(heap.size()) == count;
                        if (full && !(key < heap.front().first)) continue;
                        if (full) {
                            std::pop_heap(heap.begin(), heap.end());
                            heap.pop_back();
                        }
                        heap.emplace_back(key, j + c);
                        std::push_heap(heap.begin(), heap.end());
                    }
                }
            }
            for (std::int64_t i = 0; i < rows; ++i) {
                auto& heap = best[static_cast<std::size_t>(i)];
                std::sort_heap(heap.begin(), heap.end());
                for (std::int64_t k = 0; k < count; ++k) {
                    keys[(row + i) * count + k] = heap[static_cast<std::size_t>(k)].first;
                    columns[(row + i) * count + k] = heap[static_cast<std::size_t>(k)].second;
                }
            }
        },
        poll, alone);
}

template class Job<float>;
template class Job<double>;

}  // namespace mercer
