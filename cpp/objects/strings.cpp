#include "objects/strings.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <stdexcept>

#include "objects/string_lanes.hpp"
#include "system/cpu.hpp"

namespace mercer {

namespace {

const StringLanes& lanes() {
#ifdef MERCER_X86
    if (isa() == Isa::avx512) return avx512::string_lanes();
    if (isa() == Isa::avx2) return avx2::string_lanes();
#endif
    return baseline::string_lanes();
}

// Room for so many numbers, from a place where vectors of them do not cross lines of the cache.
template <class T>
T* room(std::vector<T>& numbers, std::int64_t count) {
    constexpr std::size_t line = 64;
    const std::size_t wanted = static_cast<std::size_t>(count) + line / sizeof(T);
    if (numbers.size() < wanted) numbers.resize(wanted);
    const auto over = reinterpret_cast<std::uintptr_t>(numbers.data()) % line;
    return numbers.data() + (over == 0 ? 0 : (line - over) / sizeof(T));
}

}  // namespace

// --- sequences ----------------------------------------------------------------------------------

TokenSequences::TokenSequences(std::span<const std::uint64_t> codes,
                               std::span<const std::int64_t> ends)
    : ends_(ends.begin(), ends.end()) {
    if (ends.empty() || ends.front() != 0 ||
        ends.back() != static_cast<std::int64_t>(codes.size()) ||
        !std::is_sorted(ends.begin(), ends.end()))
        throw std::invalid_argument("TokenSequences: ends must ascend from 0 to the last code.");
    codes_.reserve(codes.size());
    for (const std::uint64_t code : codes) {
        const auto token = static_cast<std::int64_t>(code);
        codes_.push_back(token == filler ? filler - 1 : token);
    }
}

std::int64_t TokenSequences::longest() const {
    std::int64_t most = 0;
    for (std::size_t i = 1; i < ends_.size(); ++i) most = std::max(most, ends_[i] - ends_[i - 1]);
    return most;
}

// --- common subsequences ------------------------------------------------------------------------

SubsequenceJob::SubsequenceJob(const TokenSequences& left, const TokenSequences& right,
                               double decay, std::vector<double> weights)
    : PairJob(left.size(), right.size()),
      left_(left),
      right_(right),
      decay_(decay),
      every_(false),
      scale_(std::move(weights)) {
    if (scale_.empty() || scale_.size() > std::numeric_limits<int>::max() / 2)
        throw std::invalid_argument("SubsequenceJob: there must be a weight for each length.");
    if (!(decay > 0.0 && decay <= 1.0))
        throw std::invalid_argument("SubsequenceJob: decay must be above 0 and at most 1.");
    for (std::size_t p = 0; p < scale_.size(); ++p) {
        if (p + 1 < scale_.size() && scale_[p] != 0.0) every_ = true;
        scale_[p] *= std::pow(decay, 2.0 * static_cast<double>(p + 1));
    }
}

double SubsequenceJob::work() const {
    const auto cells = static_cast<double>(left_.longest()) * static_cast<double>(right_.longest());
    return cells * static_cast<double>(scale_.size());
}

double SubsequenceJob::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    double out = 0.0;
    row(i, &j, 1, &out, scratch);
    return out;
}

void SubsequenceJob::row(std::int64_t i, const std::int64_t* columns, std::int64_t count,
                         double* out, Scratch& scratch) const {
    // Sequences of similar length go together: the others would wait for the longest.
    std::int64_t order[at_once];
    const std::int64_t at_a_time = 2 * lanes().lanes;
    for (std::int64_t first = 0; first < count; first += at_once) {
        const std::int64_t some_count = std::min(count - first, at_once);
        std::iota(order, order + some_count, first);
        std::sort(order, order + some_count, [&](std::int64_t a, std::int64_t b) {
            return right_[columns[a]].size() < right_[columns[b]].size();
        });
        for (std::int64_t k = 0; k < some_count; k += at_a_time)
            some(i, columns, order + k, std::min(at_a_time, some_count - k), out, scratch);
    }
}

// k of the left sequence i with the columns that are chosen, in ascending order of length.
void SubsequenceJob::some(std::int64_t i, const std::int64_t* columns, const std::int64_t* chosen,
                          std::int64_t count, double* out, Scratch& scratch) const {
    const auto left = left_[i];
    const auto rows = static_cast<std::int64_t>(left.size());
    const auto width = static_cast<std::int64_t>(right_[columns[chosen[count - 1]]].size());
    const auto asked = static_cast<std::int64_t>(scale_.size());
    const std::int64_t length = std::min({asked, rows, width});
    if (length == 0 || (length < asked && !every_)) {
        for (std::int64_t c = 0; c < count; ++c) out[chosen[c]] = 0.0;
        return;
    }
    const bool two = count > lanes().lanes;
    const std::int64_t across = lanes().lanes * (two ? 2 : 1);
    std::int64_t* const tokens = room(scratch.places, width * across);
    std::fill(tokens, tokens + width * across, TokenSequences::filler);
    for (std::int64_t c = 0; c < count; ++c) {
        const auto text = right_[columns[chosen[c]]];
        for (std::size_t k = 0; k < text.size(); ++k)
            tokens[static_cast<std::int64_t>(k) * across + c] = text[k];
    }
    double* const memory = room(scratch.numbers, (length - 1) * (width + 1) * across);
    double* const sums = room(scratch.more_numbers, length * across);
    std::fill(memory, memory + (length - 1) * width * across, 0.0);
    std::fill(sums, sums + length * across, 0.0);
    const auto run = two ? lanes().two_groups : lanes().one_group;
    const std::int64_t steps = length * width * across;  // of a row
    const std::int64_t some_rows = Scratch::steps_between_looks / steps + 1;
    for (std::int64_t first = 0; first < rows; first += some_rows) {
        const std::int64_t now = std::min(some_rows, rows - first);
        run(left.data() + first, now, tokens, width, static_cast<int>(length), decay_, every_,
            memory, sums);
        if (scratch.stopped(now * steps)) return;
    }
    for (std::int64_t c = 0; c < count; ++c) out[chosen[c]] = weighted(sums + c, across, length);
}

// The sums of one lane, each length by its weight; they lie `across` numbers from each other.
double SubsequenceJob::weighted(const double* sums, std::int64_t across,
                                std::int64_t length) const {
    double total = 0.0;
    for (std::int64_t p = every_ ? 0 : length - 1; p < length; ++p) {
        const double scale = scale_[static_cast<std::size_t>(p)];
        if (scale != 0.0) total += scale * sums[p * across];  // 0 times infinity would not be 0
    }
    return total;
}

// --- common substrings --------------------------------------------------------------------------

namespace {

std::size_t place(std::int32_t from, std::int64_t token, std::size_t places) {
    const std::uint64_t hash = static_cast<std::uint64_t>(token) * 0x9E3779B97F4A7C15u +
                               static_cast<std::uint64_t>(from) * 0xC2B2AE3D27D4EB4Fu;
    return static_cast<std::size_t>(hash >> 32) & (places - 1);
}

// One of 64 signs of a token: where a state has no edge of that sign, none need be looked for.
std::uint64_t sign(std::int64_t token) {
    return std::uint64_t{1} << (static_cast<std::uint64_t>(token) * 0x9E3779B97F4A7C15u >> 58);
}

// A power of two with room to spare, so that a search comes to an empty place soon.
std::size_t places_for(std::size_t edges) {
    std::size_t places = 1;
    while (places < 2 * edges + 1) places *= 2;
    return places;
}

// An automaton while tokens are added to it.
class Builder {
public:
    explicit Builder(std::span<const std::int64_t> text) {
        states_.reserve(2 * text.size() + 1);
        edges_.reserve(3 * text.size() + 1);
        found_.assign(places_for(3 * text.size() + 1), none);
        states_.push_back({0, none, none, 0.0});
        std::int32_t whole = 0;
        for (const std::int64_t token : text) whole = add(whole, token);
    }

    Automaton finish(const std::vector<double>& powers, const std::vector<double>& sums);

private:
    static constexpr std::int32_t none = -1;
    struct State {
        std::int32_t length, link, first_edge;
        double occurrences;
    };
    struct Edge {
        std::int64_t token;
        std::int32_t from, to, next;  // next: another edge of the same state
    };

    State& at(std::int32_t state) { return states_[static_cast<std::size_t>(state)]; }
    Edge& edge_at(std::int32_t edge) { return edges_[static_cast<std::size_t>(edge)]; }

    // The place in found_ of the edge, or the empty one where it belongs.
    std::int32_t& find(std::int32_t from, std::int64_t token) {
        std::size_t here = place(from, token, found_.size());
        while (found_[here] != none) {
            const Edge& met = edge_at(found_[here]);
            if (met.from == from && met.token == token) break;
            here = (here + 1) & (found_.size() - 1);
        }
        return found_[here];
    }

    void connect(std::int32_t from, std::int64_t token, std::int32_t to) {
        std::int32_t& known = find(from, token);
        known = static_cast<std::int32_t>(edges_.size());
        edges_.push_back({token, from, to, at(from).first_edge});
        at(from).first_edge = known;
    }

    std::int32_t make(std::int32_t length, std::int32_t link, double occurrences) {
        states_.push_back({length, link, none, occurrences});
        return static_cast<std::int32_t>(states_.size()) - 1;
    }

    std::int32_t add(std::int32_t whole, std::int64_t token);
    std::int32_t split(std::int32_t state, std::int32_t target, std::int64_t token);

    std::vector<State> states_;
    std::vector<Edge> edges_;
    std::vector<std::int32_t> found_;  // edges by hash
};

// The string of state `whole` gets one more token; returns the state of the new string.
std::int32_t Builder::add(std::int32_t whole, std::int64_t token) {
    const std::int32_t made = make(at(whole).length + 1, 0, 1.0);
    std::int32_t state = whole;
    for (; state != none; state = at(state).link) {
        const std::int32_t known = find(state, token);
        if (known != none) {
            const std::int32_t target = edge_at(known).to;
            const bool longest = at(target).length == at(state).length + 1;
            at(made).link = longest ? target : split(state, target, token);
            break;
        }
        connect(state, token, made);
    }
    return made;
}

// The strings of `target` that end what `state` and its links lead to now end at more places than
// the longer ones: they become a state of their own, which is returned.
std::int32_t Builder::split(std::int32_t state, std::int32_t target, std::int64_t token) {
    const std::int32_t made = make(at(state).length + 1, at(target).link, 0.0);
    for (std::int32_t e = at(target).first_edge; e != none;) {
        const Edge copied = edge_at(e);
        connect(made, copied.token, copied.to);
        e = copied.next;
    }
    at(target).link = made;
    for (; state != none; state = at(state).link) {
        const std::int32_t known = find(state, token);
        if (known == none || edge_at(known).to != target) break;
        edge_at(known).to = made;
    }
    return made;
}

Automaton Builder::finish(const std::vector<double>& powers, const std::vector<double>& sums) {
    std::vector<std::int32_t> order(states_.size());
    std::iota(order.begin(), order.end(), 0);
    std::sort(order.begin(), order.end(),
              [&](std::int32_t a, std::int32_t b) { return at(a).length < at(b).length; });
    for (std::size_t k = order.size(); k-- > 1;) {
        const State& state = at(order[k]);
        at(state.link).occurrences += state.occurrences;
    }
    Automaton made;
    made.states.assign(states_.size(), {0, 0, 0, 0.0, 0.0});
    for (std::size_t k = 1; k < order.size(); ++k) {
        const State& state = at(order[k]);
        const std::int32_t shorter = at(state.link).length;
        const Automaton::State& above = made.states[static_cast<std::size_t>(state.link)];
        const double base =
            above.base + above.slope * sums[static_cast<std::size_t>(shorter - above.shorter)];
        const double slope = state.occurrences * powers[static_cast<std::size_t>(shorter) + 1];
        made.states[static_cast<std::size_t>(order[k])] = {0, state.link, shorter, base, slope};
    }
    made.edges.assign(places_for(edges_.size()), {0, 0, none});
    for (const Edge& edge : edges_) {
        made.states[static_cast<std::size_t>(edge.from)].signs |= sign(edge.token);
        std::size_t here = place(edge.from, edge.token, made.edges.size());
        while (made.edges[here].to != none) here = (here + 1) & (made.edges.size() - 1);
        made.edges[here] = {edge.token, edge.from, edge.to};
    }
    return made;
}

}  // namespace

std::int32_t Automaton::next(std::int32_t from, std::int64_t token) const {
    std::size_t at = place(from, token, edges.size());
    while (edges[at].to >= 0 && !(edges[at].from == from && edges[at].token == token))
        at = (at + 1) & (edges.size() - 1);
    return edges[at].to;
}

Automata::Automata(std::span<const std::uint64_t> codes, std::span<const std::int64_t> ends,
                   double decay)
    : sequences_(codes, ends) {
    if (!(decay > 0.0 && std::isfinite(decay)))
        throw std::invalid_argument("Automata: decay must be a finite number above 0.");
    const std::int64_t longest = sequences_.longest();
    if (longest > std::numeric_limits<std::int32_t>::max() / 4)
        throw std::invalid_argument("Automata: a sequence is too long.");
    powers_.assign(1, 1.0);
    sums_.assign(1, 0.0);
    for (std::int64_t l = 1; l <= longest; ++l) {
        sums_.push_back(sums_.back() + powers_.back());
        powers_.push_back(powers_.back() * decay);
    }
    automata_.resize(static_cast<std::size_t>(sequences_.size()));
}

bool Automata::build(const Poll& poll) {
    return parallel_for(
        size(),
        [&](std::int64_t i, int) {
            automata_[static_cast<std::size_t>(i)] = Builder(sequences_[i]).finish(powers_, sums_);
        },
        poll);
}

double Automata::occurrences(std::int64_t i, std::span<const std::int64_t> text) const {
    const Automaton& automaton = automata_[static_cast<std::size_t>(i)];
    double total = 0.0;
    std::int32_t state = 0, length = 0;  // the longest suffix read so far that occurs
    for (const std::int64_t token : text) {
        const std::uint64_t wanted = sign(token);
        std::int32_t target = -1;
        while (true) {
            const Automaton::State& at = automaton.states[static_cast<std::size_t>(state)];
            if (at.signs & wanted) target = automaton.next(state, token);
            if (target >= 0 || state == 0) break;
            length = at.shorter;
            state = at.link;
        }
        if (target < 0) continue;
        state = target;
        ++length;
        const Automaton::State& at = automaton.states[static_cast<std::size_t>(state)];
        total += at.base + at.slope * sums_[static_cast<std::size_t>(length - at.shorter)];
    }
    return total;
}

SubstringJob::SubstringJob(const Automata& left, const Automata& right)
    : PairJob(left.size(), right.size()), left_(left), right_(right) {}

double SubstringJob::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    constexpr std::int64_t steps = 16;  // a token
    const auto text = right_.sequences()[j];
    if (scratch.stopped(steps * static_cast<std::int64_t>(text.size()))) return 0.0;
    return left_.occurrences(i, text);
}

}  // namespace mercer
