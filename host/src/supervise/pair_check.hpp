// Whether the env and the learner of a trial fit: each pair of them is created once, in a process of its own, before anything
// is trained.
#pragma once

#include <filesystem>
#include <map>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "supervise/outcome.hpp"
#include "sweep/plan.hpp"

namespace backplane {

// Trials with the same env plugin and the same learner plugin, by place in the plan; the first one stands for them all.
std::map<std::string, std::vector<size_t>> PairsOf(const Plan& plan);

struct FailedCheck {
  std::string env, learner;  // plugin ids
  nlohmann::json result;     // as a failed attempt's result.json
  std::filesystem::path folder;
  size_t trials = 0;  // of that pair
};

// True: it will fail again, so the pair's trials may be left out for good. False: a time limit or lack of memory, say.
bool FitsNever(const Verdict& verdict);

}  // namespace backplane
