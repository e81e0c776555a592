#include "objects/trees.hpp"

#include <algorithm>
#include <limits>
#include <stdexcept>

#include "system/hash.hpp"

namespace mercer {

namespace {

// The hash of a sequence, made longer by one number.
std::uint64_t joined(std::uint64_t hash, std::uint64_t next) {
    return mix(hash * 0x9e3779b97f4a7c15u + mix(next + 0x632be59bd9b4e019u));
}

constexpr std::uint64_t leaf = 1, node = 2;  // where the hash of either begins

// Every subtree must end where its last child ends, and every tree where its root does.
void check(const TreeNodes& nodes) {
    if (nodes.ends[0] != 0) throw std::invalid_argument("trees: ends must begin with 0.");
    for (std::int64_t t = 0; t < nodes.trees; ++t)  // all of them, before any is followed
        if (nodes.ends[t + 1] < nodes.ends[t] ||
            nodes.ends[t + 1] - nodes.ends[t] > std::numeric_limits<std::int32_t>::max())
            throw std::invalid_argument("trees: ends must ascend, by less than 2^31.");
    for (std::int64_t t = 0; t < nodes.trees; ++t) {
        const std::int64_t first = nodes.ends[t], last = nodes.ends[t + 1];
        for (std::int64_t v = first; v < last; ++v)
            if (nodes.sizes[v] < 1 || nodes.sizes[v] > last - v)
                throw std::invalid_argument("trees: a subtree must lie within its tree.");
        if (first < last && nodes.sizes[first] != last - first)
            throw std::invalid_argument("trees: a tree must have one root.");
        for (std::int64_t v = first; v < last; ++v) {
            const std::int64_t end = v + nodes.sizes[v];
            std::int64_t child = v + 1;
            while (child < end) child += nodes.sizes[child];
            if (child != end)
                throw std::invalid_argument("trees: a child must lie within its parent.");
        }
    }
}

std::uint64_t production(const TreeNodes& nodes, std::int64_t v) {
    std::uint64_t hash = joined(node, nodes.labels[v]);
    for (std::int64_t child = v + 1; child < v + nodes.sizes[v]; child += nodes.sizes[child])
        hash = joined(joined(hash, nodes.sizes[child] == 1 ? leaf : node), nodes.labels[child]);
    return hash;
}

}  // namespace

void hash_subtrees(const TreeNodes& nodes, std::uint64_t* hashes, std::int64_t* inner) {
    check(nodes);
    for (std::int64_t v = nodes.ends[nodes.trees] - 1; v >= 0; --v) {  // children come after
        const std::int64_t end = v + nodes.sizes[v];
        hashes[v] = joined(nodes.sizes[v] == 1 ? leaf : node, nodes.labels[v]);
        inner[v] = nodes.sizes[v] > 1;
        for (std::int64_t child = v + 1; child < end; child += nodes.sizes[child]) {
            hashes[v] = joined(hashes[v], hashes[child]);
            inner[v] += inner[child];
        }
    }
}

// --- collections -------------------------------------------------------------------------------

Forest::Forest(const TreeNodes& nodes, Likeness likeness) : likeness_(likeness) {
    check(nodes);
    starts_.assign(nodes.ends, nodes.ends + nodes.trees + 1);
    const auto count = static_cast<std::size_t>(starts_.back());
    sizes_.resize(count);
    std::transform(nodes.sizes, nodes.sizes + count, sizes_.begin(),
                   [](std::int64_t size) { return static_cast<std::int32_t>(size); });
    groups_.assign(count, -1);
    ranks_.assign(count, 0);
    group_starts_ = member_starts_ = child_ends_ = {0};
    for (std::int64_t t = 0; t < nodes.trees; ++t) {
        const std::int64_t first = nodes.ends[t];
        for (std::int64_t v = first; v < nodes.ends[t + 1]; ++v) {
            const std::int64_t end = v + nodes.sizes[v];
            for (std::int64_t child = v + 1; child < end; child += nodes.sizes[child])
                children_.push_back(static_cast<std::int32_t>(child - first));
            child_ends_.push_back(static_cast<std::int64_t>(children_.size()));
        }
        group(nodes, t);
    }
}

void Forest::group(const TreeNodes& nodes, std::int64_t tree) {
    const std::int64_t first = nodes.ends[tree], last = nodes.ends[tree + 1];
    struct Keyed {
        std::uint64_t key;
        std::int32_t node;
    };
    std::vector<Keyed> keyed;
    for (std::int64_t v = first; v < last; ++v) {
        const auto place = static_cast<std::int32_t>(v - first);
        if (likeness_ == Likeness::label)
            keyed.push_back({nodes.labels[v], place});
        else if (nodes.sizes[v] > 1)
            keyed.push_back({production(nodes, v), place});
    }
    std::sort(keyed.begin(), keyed.end(), [](const Keyed& a, const Keyed& b) {
        return a.key != b.key ? a.key < b.key : a.node < b.node;
    });
    const std::size_t begin = all_groups_.size();
    for (std::size_t k = 0; k < keyed.size(); ++k) {
        if (k == 0 || keyed[k].key != keyed[k - 1].key)
            all_groups_.push_back({keyed[k].key, static_cast<std::int64_t>(k), 0});
        const auto at = static_cast<std::size_t>(first + keyed[k].node);
        groups_[at] = static_cast<std::int32_t>(all_groups_.size() - begin - 1);
        ranks_[at] = static_cast<std::int32_t>(all_groups_.back().count++);
        members_.push_back(keyed[k].node);
    }
    group_starts_.push_back(static_cast<std::int64_t>(all_groups_.size()));
    member_starts_.push_back(static_cast<std::int64_t>(members_.size()));
}

Forest::Tree Forest::tree(std::int64_t index) const {
    const auto t = static_cast<std::size_t>(index);
    const std::int64_t first = starts_[t];
    return {static_cast<std::int32_t>(starts_[t + 1] - first),
            sizes_.data() + first,
            groups_.data() + first,
            ranks_.data() + first,
            all_groups_.data() + group_starts_[t],
            all_groups_.data() + group_starts_[t + 1],
            members_.data() + member_starts_[t],
            child_ends_.data() + first,
            children_.data()};
}

// --- pairs of nodes ----------------------------------------------------------------------------

namespace {

// The deltas of two trees, worked out from the last node of the left tree to its first, so that
// children come before their parent. Only rows of nodes whose parent is still to come are kept:
// row v begins where the stack ended before the subtree of v was begun.
class Deltas {
public:
    Deltas(const Forest::Tree& left, const Forest::Tree& right, Scratch& scratch)
        : left_(left), right_(right), scratch_(scratch) {
        const auto nodes = static_cast<std::size_t>(left.nodes);
        const auto groups = static_cast<std::size_t>(left.last_group - left.first_group);
        scratch.places.assign(groups + nodes + 1, -1);
        partners_ = scratch.places.data();  // of a group of the left tree: that of the right
        tops_ = partners_ + groups;         // where the stack ends after each node
        tops_[nodes] = 0;
        const Forest::Group* theirs = right.first_group;
        for (const Forest::Group* mine = left.first_group; mine < left.last_group; ++mine) {
            while (theirs < right.last_group && theirs->key < mine->key) ++theirs;
            if (theirs == right.last_group) break;
            if (theirs->key == mine->key)
                partners_[mine - left.first_group] = theirs - right.first_group;
        }
    }

    // The group of the right tree that a node of the left one is compared with; null if none.
    const Forest::Group* partner(std::int32_t v) const {
        const std::int32_t mine = left_.groups[v];
        if (mine < 0 || partners_[mine] < 0) return nullptr;
        return right_.first_group + partners_[mine];
    }

    bool alike(std::int32_t v, std::int32_t w) const {
        const std::int32_t mine = left_.groups[v];
        return mine >= 0 && right_.groups[w] >= 0 && partners_[mine] == right_.groups[w];
    }

    // The deltas of a node that has a row, by the rank of the other node.
    const double* row(std::int32_t v) const { return scratch_.numbers.data() + bottom(v); }

    // Delta of alike nodes, the left one with a row.
    double at(std::int32_t v, std::int32_t w) const { return row(v)[right_.ranks[w]]; }

    // The next node has no row.
    void skip(std::int32_t v) { tops_[v] = bottom(v); }

    // The row of the next node, delta(w) for every node w of its partner, on top of the rows of its
    // children, which it then replaces. Returns the sum.
    template <class Delta>
    double add(std::int32_t v, const Forest::Group& theirs, const Delta& delta) {
        const auto top = static_cast<std::size_t>(tops_[v + 1]);
        const auto count = static_cast<std::size_t>(theirs.count);
        if (scratch_.numbers.size() < top + count) scratch_.numbers.resize(2 * (top + count));
        double* const row = scratch_.numbers.data() + top;
        double sum = 0;
        for (std::size_t k = 0; k < count; ++k) {
            row[k] = delta(right_.members[static_cast<std::size_t>(theirs.first) + k]);
            sum += row[k];
        }
        double* const place = scratch_.numbers.data() + bottom(v);
        if (place != row) std::copy(row, row + count, place);
        tops_[v] = bottom(v) + theirs.count;
        return sum;
    }

private:
    std::int64_t bottom(std::int32_t v) const { return tops_[v + left_.sizes[v]]; }

    const Forest::Tree &left_, &right_;
    Scratch& scratch_;
    std::int64_t *partners_, *tops_;
};

// Pairs of subsequences of equal length, of the children of two nodes: the sum over all of them of
// the product of deltas, decayed by the children that are skipped. Taken by where they end,
// s(a, b) = delta(a, b) (1 + those that end before both, decayed by the children in between).
double subsequences(const Forest::Tree& left, std::int32_t v, const Forest::Tree& right,
                    std::int32_t w, const Deltas& deltas, double of_leaf, double decay,
                    Scratch& scratch) {
    const std::int64_t first = right.child_ends[w], last = right.child_ends[w + 1];
    std::vector<double>& ending = scratch.more_numbers;
    ending.assign(static_cast<std::size_t>(last - first), 0.0);
    double sum = 0;
    for (std::int64_t a = left.child_ends[v]; a < left.child_ends[v + 1]; ++a) {
        if (scratch.stopped(4 * (last - first) + 8)) return sum;
        const std::int32_t c = left.children[a];
        const Forest::Group* const theirs = deltas.partner(c);
        const std::int64_t wanted = theirs == nullptr ? -1 : theirs - right.first_group;
        const double* const known = left.sizes[c] == 1 ? nullptr : deltas.row(c);
        double before = 0, row = 0;  // ending before a and b; at a, up to b
        for (std::int64_t b = first; b < last; ++b) {
            const std::int32_t d = right.children[b];
            double here = 0;
            if (right.groups[d] == wanted)
                here = (known == nullptr ? of_leaf : known[right.ranks[d]]) * (1.0 + before);
            sum += here;
            row = decay * row + here;
            double& all = ending[static_cast<std::size_t>(b - first)];
            before = all;
            all = decay * all + row;
        }
    }
    return sum;
}

void require(const Forest& left, const Forest& right, Likeness likeness) {
    if (left.likeness() != likeness || right.likeness() != likeness)
        throw std::invalid_argument("tree job: the nodes must be grouped as it compares them.");
}

}  // namespace

SubsetTreeJob::SubsetTreeJob(const Forest& left, const Forest& right, double decay)
    : PairJob(left.size(), right.size()), left_(left), right_(right), decay_(decay) {
    require(left, right, Likeness::production);
}

double SubsetTreeJob::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    const Forest::Tree left = left_.tree(i), right = right_.tree(j);
    Deltas deltas(left, right, scratch);
    double sum = 0;
    for (std::int32_t v = left.nodes - 1; v >= 0; --v) {
        const Forest::Group* const theirs = deltas.partner(v);
        if (theirs == nullptr) {
            deltas.skip(v);
            continue;
        }
        const std::int64_t children = left.child_ends[v + 1] - left.child_ends[v];
        if (scratch.stopped(4 * theirs->count * (1 + children))) return sum;
        sum += deltas.add(v, *theirs, [&](std::int32_t w) {
            double delta = decay_;
            std::int32_t c = v + 1, d = w + 1;
            const std::int32_t end = v + left.sizes[v], other_end = w + right.sizes[w];
            while (c < end && d < other_end) {
                if (deltas.alike(c, d)) delta *= 1.0 + deltas.at(c, d);
                c += left.sizes[c];
                d += right.sizes[d];
            }
            return delta;
        });
    }
    return sum;
}

PartialTreeJob::PartialTreeJob(const Forest& left, const Forest& right, double decay,
                               double depth_decay)
    : PairJob(left.size(), right.size()),
      left_(left),
      right_(right),
      decay_(decay),
      depth_decay_(depth_decay) {
    require(left, right, Likeness::label);
}

double PartialTreeJob::value(std::int64_t i, std::int64_t j, Scratch& scratch) const {
    const Forest::Tree left = left_.tree(i), right = right_.tree(j);
    Deltas deltas(left, right, scratch);
    const double alone = depth_decay_ * decay_ * decay_;  // delta where either is a leaf
    double sum = 0;
    for (std::int32_t v = left.nodes - 1; v >= 0; --v) {
        if (scratch.stopped(8)) return sum;
        const Forest::Group* const theirs = deltas.partner(v);
        if (theirs != nullptr && left.sizes[v] > 1) {
            sum += deltas.add(v, *theirs, [&](std::int32_t w) {
                if (right.sizes[w] == 1) return alone;
                const double below =
                    subsequences(left, v, right, w, deltas, alone, decay_, scratch);
                return depth_decay_ * (decay_ * decay_ + below);
            });
            continue;
        }
        if (theirs != nullptr) sum += alone * static_cast<double>(theirs->count);
        deltas.skip(v);
    }
    return sum;
}

}  // namespace mercer
