#include "rouge/aggregate.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <string>
#include <vector>

#include "backplane/rng.h"

namespace backplane::rouge {
namespace {

constexpr size_t kColumns = std::size(kTypes) * std::size(kNumbers);
using Row = std::array<double, kColumns>;

Row ToRow(const Scores& scores) {
  Row row;
  size_t i = 0;
  for (const auto type : kTypes)
    for (const auto number : kNumbers) row[i++] = scores.*type.*number;
  return row;
}

Scores FromRow(const Row& row) {
  Scores scores;
  size_t i = 0;
  for (const auto type : kTypes)
    for (const auto number : kNumbers) scores.*type.*number = row[i++];
  return scores;
}

// Means of the rows that `pick(i)` names, i = 0 .. n - 1.
template <typename Pick>
Row MeanOf(const std::vector<Row>& rows, Pick pick) {
  Row mean{};
  for (size_t i = 0; i < rows.size(); ++i) {
    const Row& row = rows[pick(i)];
    for (size_t c = 0; c < kColumns; ++c) mean[c] += row[c];
  }
  for (double& value : mean) value /= static_cast<double>(rows.size());
  return mean;
}

double Percentile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return std::lerp(sorted[below], sorted[above], rank - static_cast<double>(below));
}

void Check(std::span<const Scores> scores, const Bootstrap& bootstrap) {
  if (scores.empty()) throw std::invalid_argument("rouge: expected at least one score for a mean, got none");
  if (bootstrap.resamples < 1)
    throw std::invalid_argument("rouge: resamples: expected 1 or more, got " + std::to_string(bootstrap.resamples));
  if (!(bootstrap.confidence >= 0 && bootstrap.confidence <= 1))
    throw std::invalid_argument("rouge: confidence: expected a number in [0, 1], got " + std::to_string(bootstrap.confidence));
}

}  // namespace

Aggregate Summarize(std::span<const Scores> scores, const Bootstrap& bootstrap) {
  Check(scores, bootstrap);
  std::vector<Row> rows;
  for (const Scores& s : scores) rows.push_back(ToRow(s));

  std::vector<Row> means;
  for (int i = 0; i < bootstrap.resamples; ++i) {
    bp_rng rng{bp_seed(bootstrap.seed, BP_PURPOSE_EVAL, 0, static_cast<uint64_t>(i)), 0};
    means.push_back(MeanOf(rows, [&](size_t) { return bp_rng_below(&rng, rows.size()); }));
  }

  const double tail = (1 - bootstrap.confidence) / 2;
  Row low, high;
  for (size_t c = 0; c < kColumns; ++c) {
    std::vector<double> column;
    for (const Row& row : means) column.push_back(row[c]);
    std::sort(column.begin(), column.end());
    low[c] = Percentile(column, tail);
    high[c] = Percentile(column, 1 - tail);
  }
  return {FromRow(MeanOf(rows, [](size_t i) { return i; })), FromRow(low), FromRow(high)};
}

}  // namespace backplane::rouge
