#include "on_policy/sequences.hpp"

#include <algorithm>

#include "on_policy/parts.hpp"

namespace backplane::on_policy {

void SequenceBlocks::Pack(const SequenceSet& set, std::span<const int64_t> numbers) {
  // Few sequences make a step's products slow, because each reads all weights.
  constexpr int64_t kLeast = 8;
  places_.clear(), index_.clear(), entries_.clear(), sequences_.clear(), fresh_.clear();
  most_rows_ = 0;
  const auto all = static_cast<int64_t>(numbers.size()), each = std::max(kLeast, kBlock / set.longest);
  for (int64_t at = 0; at < all; at += each) PackBlock(set, numbers.subspan(at, std::min(each, all - at)));
}

void SequenceBlocks::PackBlock(const SequenceSet& set, std::span<const int64_t> numbers) {
  const Place place{n(), 0, entries_.size(), 0, sequences_.size()};
  sequences_.insert(sequences_.end(), numbers.begin(), numbers.end());
  const std::span own(sequences_.begin() + static_cast<int64_t>(place.sequence), sequences_.end());
  std::stable_sort(own.begin(), own.end(), [&](int64_t a, int64_t b) { return set.Length(a) > set.Length(b); });
  places_.push_back(place);
  Place& made = places_.back();
  for (int64_t t = 0; t < set.Length(own[0]); ++t, ++made.entries) {
    const int64_t before = n();
    for (const int64_t sequence : own) {
      if (set.Length(sequence) <= t) break;
      index_.push_back(set.samples[set.begins[sequence] + t]);
      fresh_.push_back(set.fresh[index_.back()]);
    }
    entries_.push_back(n() - before);
  }
  made.rows = n() - made.begin;
  most_rows_ = std::max(most_rows_, made.rows);
}

}  // namespace backplane::on_policy
