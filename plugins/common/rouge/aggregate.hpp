// Summary of the scores of many texts.
#pragma once

#include <cstdint>
#include <span>

#include "rouge/scorer.hpp"

namespace backplane::rouge {

// The mean of each number, and the bounds of its confidence interval.
struct Aggregate {
  Scores mean, low, high;
};

struct Bootstrap {
  uint64_t seed = 0;
  int resamples = 1000;
  double confidence = 0.95;
};

// Mean and percentile bootstrap (Efron and Tibshirani, "An introduction to the bootstrap", 13.3) over texts drawn with
// replacement; all numbers use the same draws. Percentiles are interpolated between ranks like numpy.percentile. Equal scores
// in equal order with equal seeds give equal bits. Unlike rouge_score's BootstrapAggregator, whose middle value is the median
// of the resampled means, `mean` is the plain mean. Throws std::invalid_argument without scores, for resamples < 1, and for a
// confidence outside [0, 1].
Aggregate Summarize(std::span<const Scores> scores, const Bootstrap& bootstrap = {});

}  // namespace backplane::rouge
