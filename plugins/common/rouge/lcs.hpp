// Bit-parallel longest common subsequences: a row of the usual table is stored as its differences, one bit each (Crochemore,
// Iliopoulos, Pinzon and Reid, "A fast and practical bit-vector algorithm for the longest common subsequence problem", IPL 80,
// 2001).
#pragma once

#include <cstdint>
#include <vector>

#include "rouge/tokens.hpp"

namespace backplane::rouge {

class Lcs {
 public:
  // Length of a longest common subsequence. All numbers are below `distinct`.
  size_t Length(Ids rows, Ids columns, Id distinct);

  // One longest common subsequence, as indices into `columns`, last first, valid until the next call. Traced from the end of
  // both: equal tokens are matched; otherwise it drops the row if that loses less than dropping the column, else the column.
  const std::vector<size_t>& Trace(Ids rows, Ids columns, Id distinct);

  size_t bytes() const { return (masks_.capacity() + table_.capacity()) * sizeof(uint64_t); }

 private:
  template <bool kKeep>
  size_t Run(Ids rows, Ids columns, Id distinct);

  std::vector<uint64_t> masks_;  // by token: its positions in the current 64 columns; zeros between calls
  std::vector<uint8_t> carry_;   // by row, into the next 64 columns
  std::vector<uint64_t> table_;  // (blocks of 64 columns x rows): a zero bit if the value exceeds the previous column's
  std::vector<size_t> trace_;
};

}  // namespace backplane::rouge
