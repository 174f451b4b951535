// Learning rates over updates, like transformers' get_scheduler.
#pragma once

#include <cstdint>

#include "backplane/options.hpp"

namespace backplane::seq2seq {

enum class Schedule { kLinear, kCosine, kConstant, kConstantWithWarmup };
constexpr auto WordsOf(Schedule) {
  return bp::Words<Schedule>({{"linear", Schedule::kLinear},
                              {"cosine", Schedule::kCosine},
                              {"constant", Schedule::kConstant},
                              {"constant_with_warmup", Schedule::kConstantWithWarmup}});
}

// Updates of warm-up: `steps` itself, or below 1 that share of all updates, rounded up.
uint64_t WarmupUpdates(double steps, uint64_t total);

// Factor of the learning rate for the update after `done` others: it rises from 0 over the warm-up, then falls to 0 at `total`,
// linearly or along a cosine, or stays constant. If `total` is 0 (unknown), `progress` of the budget (0 to 1) replaces done /
// total.
double LrFactor(Schedule schedule, uint64_t done, uint64_t warmup, uint64_t total, double progress);

}  // namespace backplane::seq2seq
