#include "rouge/lcs.hpp"

#include <algorithm>
#include <bit>

namespace backplane::rouge {

template <bool kKeep>
size_t Lcs::Run(Ids rows, Ids columns, Id distinct) {
  if (masks_.size() < distinct) masks_.resize(distinct);
  carry_.assign(rows.size(), 0);
  if (kKeep) table_.resize((columns.size() + 63) / 64 * rows.size());
  size_t length = 0;
  for (size_t begin = 0; begin < columns.size(); begin += 64) {
    const Ids block = columns.subspan(begin, std::min<size_t>(64, columns.size() - begin));
    for (size_t i = 0; i < block.size(); ++i) masks_[block[i]] |= uint64_t{1} << i;
    uint64_t* kept = kKeep ? table_.data() + begin / 64 * rows.size() : nullptr;
    uint64_t v = ~uint64_t{0};
    for (size_t r = 0; r < rows.size(); ++r) {
      const uint64_t match = masks_[rows[r]];
      // v + (v & match) for a number as wide as the columns, 64 bits at a time.
      uint64_t sum;
      const bool over = __builtin_add_overflow(v, v & match, &sum);
      carry_[r] = __builtin_add_overflow(sum, carry_[r], &sum) || over;
      v = sum | (v & ~match);
      if (kKeep) kept[r] = v;
    }
    length += static_cast<size_t>(std::popcount(~v));  // bits past the last column stay one
    for (const Id token : block) masks_[token] = 0;
  }
  return length;
}

size_t Lcs::Length(Ids rows, Ids columns, Id distinct) { return Run<false>(rows, columns, distinct); }

const std::vector<size_t>& Lcs::Trace(Ids rows, Ids columns, Id distinct) {
  Run<true>(rows, columns, distinct);
  trace_.clear();
  for (size_t r = rows.size(), c = columns.size(); r > 0 && c > 0;) {
    if (rows[r - 1] == columns[c - 1]) {
      trace_.push_back(c - 1);
      --r, --c;
    } else if (table_[(c - 1) / 64 * rows.size() + r - 1] >> (c - 1) % 64 & 1) {
      --c;  // the previous column has the same value, and the previous row's is not larger
    } else {
      --r;  // the value grew in this column, so the previous row has it too
    }
  }
  return trace_;
}

}  // namespace backplane::rouge
