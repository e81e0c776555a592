#include "engine.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>

#include "machine.hpp"

namespace mercer {
namespace {

constexpr std::int64_t row_panels = 8;         // of a tile
constexpr std::int64_t column_panels = 16;     // of a tile
constexpr std::int64_t columns_at_once = 160;  // of the points, so that two panels stay in L1

std::int64_t up(std::int64_t value, std::int64_t step) {
    return (value + step - 1) / step * step;
}

// What rounding may do to a kernel value.
template <class T>
constexpr double tolerance = sizeof(T) == 4 ? 1e-6 : 5e-14;

}  // namespace

template <>
const Kernels<float>& kernels<float>() {
#ifdef MERCER_HAS_AVX2
    if (isa() == Isa::avx2) return avx2::kernels32();
#endif
    return baseline::kernels32();
}

template <>
const Kernels<double>& kernels<double>() {
#ifdef MERCER_HAS_AVX2
    if (isa() == Isa::avx2) return avx2::kernels64();
#endif
    return baseline::kernels64();
}

template <class T>
void Free<T>::operator()(T* p) const {
    std::free(p);
}

template <class T>
Aligned<T> aligned(std::int64_t count) {
    constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() / 16;
    if (count < 0 || count > most) throw std::bad_alloc();
    const auto bytes = static_cast<std::size_t>(
        up(std::max<std::int64_t>(count, 1) * static_cast<std::int64_t>(sizeof(T)), 64));
    void* p = std::aligned_alloc(64, bytes);
    if (p == nullptr) throw std::bad_alloc();
    return Aligned<T>(static_cast<T*>(p));
}

// --- panels -------------------------------------------------------------------------------------

template <class T>
template <class Source>
Panels<T>::Panels(const Source* x, std::int64_t rows, std::int64_t columns, std::int64_t stride,
                  const double* centre, const double* scale)
    : rows_(rows),
      columns_(columns),
      width_(kernels<T>().width),
      panels_((rows + width_ - 1) / width_) {
    if (rows < 0 || columns < 0 || stride < columns)
        throw std::invalid_argument("Panels: sizes must not be negative nor rows overlap.");
    if (columns > 0 && panels_ * width_ > std::numeric_limits<std::int64_t>::max() / 16 / columns)
        throw std::bad_alloc();
    data_ = aligned<T>(panels_ * width_ * columns_);
    norms_.assign(static_cast<std::size_t>(panels_ * width_), T(0));
    largest_.assign(static_cast<std::size_t>(panels_), 0.0);
    parallel_for(panels_, [&](std::int64_t p, int) { pack(p, x, stride, centre, scale); }, nullptr);
    for (std::int64_t i = 0; i < rows_; ++i)
        if (std::isnan(norms_[static_cast<std::size_t>(i)])) missing_.push_back(i);
}

template <class T>
template <class Source>
void Panels<T>::pack(std::int64_t p, const Source* x, std::int64_t stride, const double* centre,
                     const double* scale) {
    T* out = data_.get() + p * columns_ * width_;
    for (std::int64_t r = 0; r < width_; ++r) {
        const std::int64_t i = p * width_ + r;
        if (i >= rows_) {
            for (std::int64_t k = 0; k < columns_; ++k) out[k * width_ + r] = T(0);
            continue;
        }
        const Source* row = x + i * stride;
        double norm = 0;
        for (std::int64_t k = 0; k < columns_; ++k) {
            double value = static_cast<double>(row[k]);
            if (centre != nullptr) value -= centre[k];
            if (scale != nullptr) value *= scale[k];
            const T kept = static_cast<T>(value);
            out[k * width_ + r] = kept;
            norm += static_cast<double>(kept) * static_cast<double>(kept);
        }
        norms_[static_cast<std::size_t>(i)] = static_cast<T>(norm);
        auto& largest = largest_[static_cast<std::size_t>(p)];
        if (!(norm <= largest)) largest = norm;  // NaN counts as large
    }
}

template <class T>
std::int64_t Panels<T>::bytes() const {
    return panels_ * width_ * (columns_ + 1) * static_cast<std::int64_t>(sizeof(T));
}

// --- products -----------------------------------------------------------------------------------

namespace {

// Collects K v block by block; of the same points, a block above the diagonal counts for its
// mirror image too. Sums of a block in T, sums of blocks in double precision, one set for each
// worker: the result depends on the number of threads, not on which was faster.
template <class T>
class Product {
public:
    Product(std::int64_t rows, std::int64_t columns, bool same, const double* v, std::int64_t count,
            std::int64_t tile_rows, std::int64_t tile_columns)
        : rows_(rows),
          count_(count),
          same_(same),
          tile_rows_(tile_rows),
          tile_columns_(tile_columns) {
        by_point_ = aligned<T>(columns * count);
        for (std::int64_t j = 0; j < columns * count; ++j)
            by_point_[static_cast<std::size_t>(j)] = static_cast<T>(v[j]);
        depth_ = up(columns, tile_columns);
        by_column_ = aligned<T>(depth_ * count);
        std::fill_n(by_column_.get(), depth_ * count, T(0));
        for (std::int64_t j = 0; j < columns; ++j)
            for (std::int64_t c = 0; c < count; ++c)
                by_column_[static_cast<std::size_t>(c * depth_ + j)] =
                    by_point_[static_cast<std::size_t>(j * count + c)];
        for (int w = 0; w < num_threads(); ++w) {
            Worker worker;
            worker.part = aligned<T>(tile_columns * count);
            worker.copy = aligned<T>(tile_rows * tile_columns);
            worker.sums.assign(static_cast<std::size_t>(rows * count), 0.0);
            workers_.push_back(std::move(worker));
        }
    }

    // values: rows tile_columns apart. ahead: the values that this worker will add next, or null.
    void add(const Block& block, const T* values, const T* ahead, int worker) {
        Worker& own = workers_[static_cast<std::size_t>(worker)];
        const bool crosses = same_ && block.column < block.row + block.rows;
        if (crosses || block.columns < tile_columns_) values = cleaned(block, values, own);
        const auto& table = kernels<T>();
        table.multiply(values, tile_columns_, block.rows, block.columns,
                       by_column_.get() + block.column, depth_, count_, own.part.get(), tile_rows_,
                       ahead);
        collect(own, block.row, block.rows, tile_rows_);
        if (!same_) return;
        if (crosses) clear_diagonal(block, own);
        table.multiply_transposed(values, tile_columns_, block.rows, block.columns,
                                  by_point_.get() + block.row * count_, count_, own.part.get(),
                                  tile_columns_);
        collect(own, block.column, block.columns, tile_columns_);
    }

    void finish(double* out) const {
        for (std::int64_t i = 0; i < rows_; ++i)
            for (std::int64_t c = 0; c < count_; ++c) {
                double total = 0;
                for (const auto& worker : workers_)
                    total += worker.sums[static_cast<std::size_t>(c * rows_ + i)];
                out[i * count_ + c] = total;
            }
    }

private:
    struct Worker {
        Aligned<T> part, copy;
        std::vector<double> sums;
    };

    // A copy of the block with zeros after its last column and, of the same points, below the
    // diagonal of the whole matrix.
    const T* cleaned(const Block& block, const T* values, Worker& own) {
        for (std::int64_t i = 0; i < block.rows; ++i) {
            const std::int64_t below = same_ ? block.row + i - block.column : 0;
            const std::int64_t first = std::clamp<std::int64_t>(below, 0, block.columns);
            T* row = own.copy.get() + i * tile_columns_;
            std::fill_n(row, first, T(0));
            std::copy(values + i * tile_columns_ + first,
                      values + i * tile_columns_ + block.columns, row + first);
            std::fill(row + block.columns, row + tile_columns_, T(0));
        }
        return own.copy.get();
    }

    // The diagonal counts once.
    void clear_diagonal(const Block& block, Worker& own) {
        for (std::int64_t i = 0; i < block.rows; ++i) {
            const std::int64_t j = block.row + i - block.column;
            if (0 <= j && j < block.columns)
                own.copy[static_cast<std::size_t>(i * tile_columns_ + j)] = T(0);
        }
    }

    void collect(Worker& own, std::int64_t first, std::int64_t points, std::int64_t stride) {
        for (std::int64_t c = 0; c < count_; ++c) {
            double* sums = own.sums.data() + c * rows_ + first;
            const T* part = own.part.get() + c * stride;
            for (std::int64_t i = 0; i < points; ++i) sums[i] += static_cast<double>(part[i]);
        }
    }

    std::int64_t rows_, count_;
    bool same_;
    std::int64_t tile_rows_, tile_columns_;
    std::int64_t depth_ = 0;
    Aligned<T> by_point_, by_column_;  // v, twice
    std::vector<Worker> workers_;
};

}  // namespace

// --- jobs ---------------------------------------------------------------------------------------

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
      tile_rows_(row_panels * kernels<T>().width),
      tile_columns_(column_panels * kernels<T>().width) {
    const auto require = [](bool holds, const char* sentence) {
        if (!holds) throw std::invalid_argument(std::string("Job: ") + sentence);
    };
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
                "mismatches need one weight a column.");
    }
    for (auto& vector : left_)
        require(static_cast<std::int64_t>(vector.size()) == rows, "a row vector has a wrong size.");
    for (auto& vector : right_) {
        require(static_cast<std::int64_t>(vector.size()) == columns,
                "a column vector has a wrong size.");
        vector.resize(static_cast<std::size_t>(up(columns, tile_columns_)), T(0));
    }
    require(!programs_.empty(), "there must be a program.");
    for (const auto& program : programs_) {
        require(!program.empty(), "a program must not be empty.");
        for (const auto& step : program) check(step);
    }
}

template <class T>
void Job<T>::check(const Instruction& step) const {
    const auto require = [](bool holds, const char* sentence) {
        if (!holds) throw std::invalid_argument(std::string("Job: ") + sentence);
    };
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
std::vector<typename Job<T>::Scratch> Job<T>::scratches() const {
    std::vector<Scratch> all(static_cast<std::size_t>(num_threads()));
    for (auto& one : all) {
        for (std::size_t t = 0; t < terms_.size(); ++t)
            one.tiles.push_back(aligned<T>(tile_rows_ * tile_columns_));
        one.registers = aligned<T>(max_registers * tile_columns_);
        one.values = aligned<T>(tile_rows_ * tile_columns_);
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
                    const T* a = term.left->panel((block.row + i) / width) + from * width;
                    sum(a, b, to - from, weights, tile + i * tile_columns_ + j, tile_columns_,
                        pass == 0);
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
const T* Job<T>::evaluate(const Block& block, bool upper, Scratch& scratch) const {
    statistics(block, upper, scratch);
    return values(programs_.front(), block, scratch);
}

template <class T>
const T* Job<T>::values(const std::vector<Instruction>& program, const Block& block,
                        Scratch& scratch) const {
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
        const std::int64_t own = point - block.column;
        row.diagonal = same_points_ && 0 <= own && own < block.columns ? own : -1;
        table.run(program.data(), static_cast<int>(program.size()), row, scratch.registers.get(),
                  tile_columns_, scratch.values.get() + i * tile_columns_);
    }
    return scratch.values.get();
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
    if (outs.size() != programs_.size())
        throw std::invalid_argument("Job: there must be one matrix for each program.");
    auto scratch = scratches();
    const auto blocks = block_list();
    return parallel_for(
        static_cast<std::int64_t>(blocks.size()),
        [&](std::int64_t task, int worker) {
            const Block& block = blocks[static_cast<std::size_t>(task)];
            Scratch& own = scratch[static_cast<std::size_t>(worker)];
            statistics(block, same_points_, own);
            for (std::size_t p = 0; p < programs_.size(); ++p)
                store_block(block, values(programs_[p], block, own), outs[p]);
        },
        poll);
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
    auto scratch = scratches();
    Product<T> product(rows_, columns_, same_points_, v, count, tile_rows_, tile_columns_);
    const auto blocks = block_list();
    const bool done = parallel_in_turn(
        static_cast<std::int64_t>(blocks.size()),
        [&](std::int64_t task, int worker) {
            const Block& block = blocks[static_cast<std::size_t>(task)];
            const T* values =
                evaluate(block, same_points_, scratch[static_cast<std::size_t>(worker)]);
            product.add(block, values, nullptr, worker);
        },
        poll);
    if (done) product.finish(out);
    return done;
}

template <class T>
bool Job<T>::top(std::int64_t count, const double* shift, std::int64_t* columns, double* keys,
                 const Poll& poll) const {
    if (count < 1 || count > columns_)
        throw std::invalid_argument("top: count must be from 1 to the number of columns.");
    auto scratch = scratches();
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
        poll);
}

// --- packed symmetric matrices ------------------------------------------------------------------

template <class T>
Packed<T>::Packed(const Job<T>& job, bool narrow, const Poll& poll)
    : n_(job.rows()), tile_rows_(job.tile_rows()), tile_columns_(job.tile_columns()) {
    if (!job.same_points())
        throw std::invalid_argument("Packed: the matrix must be that of one collection of points.");
    blocks_ = job.block_list();
    const auto count = static_cast<std::int64_t>(blocks_.size());
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (narrow) {
        codes_ = aligned<std::uint16_t>(count * size);
        low_.resize(blocks_.size());
        step_.resize(blocks_.size());
    } else {
        values_ = aligned<T>(count * size);
    }
    auto scratch = job.scratches();
    complete_ = parallel_for(
        count,
        [&](std::int64_t task, int worker) {
            const Block& block = blocks_[static_cast<std::size_t>(task)];
            Scratch& own = scratch[static_cast<std::size_t>(worker)];
            keep(task, block, job.evaluate(block, true, own));
        },
        poll);
}

// What lies below the diagonal was not computed and is never used: it is left out of the range.
template <class T>
void Packed<T>::keep(std::int64_t task, const Block& block, const T* values) {
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (!codes_) {
        std::copy_n(values, block.rows * tile_columns_, values_.get() + task * size);
        return;
    }
    T low = std::numeric_limits<T>::infinity(), high = -low;
    for (std::int64_t i = 0; i < block.rows; ++i)
        for (std::int64_t j = first_kept(block, i); j < block.columns; ++j) {
            const T value = values[i * tile_columns_ + j];
            if (!std::isfinite(value))
                throw std::invalid_argument("Packed: 16 bits hold finite kernel values only.");
            low = std::min(low, value);
            high = std::max(high, value);
        }
    const T step = (high - low) / T(65535);
    low_[static_cast<std::size_t>(task)] = low;
    step_[static_cast<std::size_t>(task)] = step;
    for (std::int64_t i = 0; i < block.rows; ++i) {
        const std::int64_t from = first_kept(block, i);
        std::uint16_t* row = codes_.get() + task * size + i * tile_columns_;
        std::fill_n(row, tile_columns_, std::uint16_t(0));
        kernels<T>().encode(values + i * tile_columns_ + from, block.columns - from, low, step,
                            row + from);
    }
}

template <class T>
std::int64_t Packed<T>::first_kept(const Block& block, std::int64_t i) const {
    return std::clamp<std::int64_t>(block.row + i - block.column, 0, block.columns);
}

// The values of a block; narrow ones are written into `room`.
template <class T>
const T* Packed<T>::block_values(std::int64_t task, T* room) const {
    const std::int64_t size = tile_rows_ * tile_columns_;
    if (!codes_) return values_.get() + task * size;
    const auto index = static_cast<std::size_t>(task);
    kernels<T>().decode(codes_.get() + task * size, blocks_[index].rows * tile_columns_,
                        low_[index], step_[index], room);
    return room;
}

template <class T>
std::int64_t Packed<T>::bytes() const {
    const auto each = static_cast<std::int64_t>(codes_ ? sizeof(std::uint16_t) : sizeof(T));
    return static_cast<std::int64_t>(blocks_.size()) * tile_rows_ * tile_columns_ * each;
}

template <class T>
double Packed<T>::error() const {
    double largest = 0;
    for (const T step : step_) largest = std::max(largest, static_cast<double>(step));
    return largest / 2;
}

template <class T>
std::vector<Aligned<T>> Packed<T>::rooms() const {
    std::vector<Aligned<T>> all;
    for (int w = 0; w < num_threads(); ++w)
        all.push_back(aligned<T>(codes_ ? tile_rows_ * tile_columns_ : 0));
    return all;
}

template <class T>
bool Packed<T>::multiply(const double* v, std::int64_t count, double* out, const Poll& poll) const {
    Product<T> product(n_, n_, true, v, count, tile_rows_, tile_columns_);
    auto room = rooms();
    const bool done = parallel_in_turn(
        static_cast<std::int64_t>(blocks_.size()),
        [&](std::int64_t task, int worker) {
            const std::int64_t next = task + num_threads();
            const bool ahead = !codes_ && next < static_cast<std::int64_t>(blocks_.size());
            product.add(blocks_[static_cast<std::size_t>(task)],
                        block_values(task, room[static_cast<std::size_t>(worker)].get()),
                        ahead ? values_.get() + next * tile_rows_ * tile_columns_ : nullptr,
                        worker);
        },
        poll);
    if (done) product.finish(out);
    return done;
}

template <class T>
void Packed<T>::rows(const std::int64_t* chosen, std::int64_t count, T* out) const {
    for (std::int64_t r = 0; r < count; ++r)
        if (chosen[r] < 0 || chosen[r] >= n_)
            throw std::invalid_argument("Packed: a row must be one of the points.");
    auto room = rooms();
    parallel_for(
        static_cast<std::int64_t>(blocks_.size()),
        [&](std::int64_t task, int worker) {
            const Block& block = blocks_[static_cast<std::size_t>(task)];
            const auto touches = [&](std::int64_t point) {
                return (block.row <= point && point < block.row + block.rows) ||
                       (block.column <= point && point < block.column + block.columns);
            };
            if (std::none_of(chosen, chosen + count, touches)) return;
            const T* values = block_values(task, room[static_cast<std::size_t>(worker)].get());
            for (std::int64_t r = 0; r < count; ++r)
                copy_row(block, values, chosen[r], out + r * n_);
        },
        nullptr);
}

// The part of a row of the whole matrix that a block holds, in its rows or in its columns.
template <class T>
void Packed<T>::copy_row(const Block& block, const T* values, std::int64_t point, T* row) const {
    const std::int64_t i = point - block.row, j = point - block.column;
    if (0 <= i && i < block.rows) {
        const std::int64_t from = first_kept(block, i);
        std::copy(values + i * tile_columns_ + from, values + i * tile_columns_ + block.columns,
                  row + block.column + from);
    }
    if (0 <= j && j < block.columns)
        for (std::int64_t k = 0; k < block.rows && block.row + k < point; ++k)
            row[block.row + k] = values[k * tile_columns_ + j];
}

template struct Free<float>;
template struct Free<double>;
template struct Free<std::uint16_t>;
template class Panels<float>;
template class Panels<double>;
template Panels<float>::Panels(const float*, std::int64_t, std::int64_t, std::int64_t,
                               const double*, const double*);
template Panels<float>::Panels(const double*, std::int64_t, std::int64_t, std::int64_t,
                               const double*, const double*);
template Panels<double>::Panels(const float*, std::int64_t, std::int64_t, std::int64_t,
                                const double*, const double*);
template Panels<double>::Panels(const double*, std::int64_t, std::int64_t, std::int64_t,
                                const double*, const double*);
template class Job<float>;
template class Job<double>;
template class Packed<float>;
template class Packed<double>;

}  // namespace mercer
