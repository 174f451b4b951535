// Compares the bit-parallel algorithm with the plain table.
#include <gtest/gtest.h>

#include <algorithm>

#include "backplane/rng.h"
#include "rouge/lcs.hpp"

namespace backplane::rouge {
namespace {

using Table = std::vector<std::vector<size_t>>;

Table Plain(const std::vector<Id>& rows, const std::vector<Id>& columns) {
  Table t(rows.size() + 1, std::vector<size_t>(columns.size() + 1));
  for (size_t r = 1; r <= rows.size(); ++r)
    for (size_t c = 1; c <= columns.size(); ++c)
      t[r][c] = rows[r - 1] == columns[c - 1] ? t[r - 1][c - 1] + 1 : std::max(t[r - 1][c], t[r][c - 1]);
  return t;
}

// As in rouge_score's _backtrack_norec, with columns for the reference.
std::vector<size_t> PlainTrace(const std::vector<Id>& rows, const std::vector<Id>& columns) {
  const Table t = Plain(rows, columns);
  std::vector<size_t> out;
  for (size_t r = rows.size(), c = columns.size(); r > 0 && c > 0;) {
    if (rows[r - 1] == columns[c - 1])
      out.push_back(c - 1), --r, --c;
    else if (t[r - 1][c] > t[r][c - 1])
      --r;
    else
      --c;
  }
  return out;
}

std::vector<Id> Draw(bp_rng* rng, size_t n, Id distinct) {
  std::vector<Id> out(n);
  for (Id& id : out) id = static_cast<Id>(bp_rng_below(rng, distinct));
  return out;
}

TEST(RougeLcs, EqualsThePlainTable) {
  bp_rng rng{bp_seed(1, BP_PURPOSE_EVAL, 0, 0), 0};
  Lcs lcs;
  const size_t lengths[] = {0, 1, 5, 63, 64, 65, 128, 200};
  for (const size_t rows : lengths)
    for (const size_t columns : lengths)
      for (const Id distinct : {1, 2, 7, 300}) {
        const std::vector<Id> a = Draw(&rng, rows, distinct), b = Draw(&rng, columns, distinct);
        ASSERT_EQ(lcs.Length(a, b, distinct), Plain(a, b)[rows][columns]) << rows << " x " << columns << " of " << distinct;
        ASSERT_EQ(lcs.Trace(a, b, distinct), PlainTrace(a, b)) << rows << " x " << columns << " of " << distinct;
      }
}

}  // namespace
}  // namespace backplane::rouge
