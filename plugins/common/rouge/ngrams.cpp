#include "rouge/ngrams.hpp"

#include <algorithm>
#include <bit>

namespace backplane::rouge {

constexpr uint64_t kFree = ~uint64_t{0};

void Numbering::Reset(size_t keys) {
  const size_t slots = std::bit_ceil(2 * keys + 2);  // at least two, for a shift below 64
  slots_.assign(slots, {kFree, 0});
  shift_ = 64 - std::countr_zero(slots);
  size_ = 0;
}

Id Numbering::Number(uint64_t key) {
  // Multiplication by 2^64 / golden ratio (Knuth, TAOCP 6.4); the high bits are the good ones.
  size_t i = (key ^ key >> 32) * 0x9E3779B97F4A7C15u >> shift_;
  while (slots_[i].key != kFree) {
    if (slots_[i].key == key) return slots_[i].number;
    i = (i + 1) & (slots_.size() - 1);
  }
  slots_[i] = {key, size_};
  return size_++;
}

void Ngrams::Start(Ids prediction, Ids reference) {
  n_ = 1;
  numbering_.Reset(prediction.size() + reference.size());
  const Ids texts[] = {prediction, reference};
  for (int side = 0; side < 2; ++side) {
    tokens_[side].clear();
    for (const Id token : texts[side]) tokens_[side].push_back(numbering_.Number(token));
    sides_[side] = tokens_[side];
  }
}

// An (n+1)-gram is an n-gram and the token after it.
void Ngrams::Extend() {
  numbering_.Reset(sides_[0].size() + sides_[1].size());
  for (int side = 0; side < 2; ++side) {
    std::vector<Id>& grams = sides_[side];
    if (!grams.empty()) grams.pop_back();
    for (size_t i = 0; i < grams.size(); ++i)
      grams[i] = numbering_.Number(static_cast<uint64_t>(grams[i]) << 32 | tokens_[side][i + n_]);
  }
  ++n_;
}

void Ngrams::Count() {
  counts_.assign(distinct(), {});
  for (const Id gram : sides_[0]) ++counts_[gram].prediction;
  for (const Id gram : sides_[1]) ++counts_[gram].reference;
}

Overlap Ngrams::CountAll() {
  Count();
  size_t shared = 0;
  for (const Counts& c : counts_) shared += std::min(c.prediction, c.reference);
  return {sides_[0].size(), sides_[1].size(), shared};
}

Overlap Ngrams::CountDistinct() {
  Count();
  Overlap out{0, 0, 0};
  for (const Counts& c : counts_) {
    out.prediction += c.prediction > 0;
    out.reference += c.reference > 0;
    out.shared += c.prediction > 0 && c.reference > 0;
  }
  return out;
}

}  // namespace backplane::rouge
