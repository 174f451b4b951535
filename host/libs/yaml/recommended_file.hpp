// An experiment file for training with the setting of one point of a finished experiment.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane {

// An example of a budget to start a file without one, such as a recommended file.
inline constexpr char kSomeBudget[] = "--set budget.iterations=100";

// A measurement's budget does not fit a training: without one `run` requests it, except for a command. The budget of a search's
// trials fits.
enum class OfBudget { kLeftOut, kKept };

// `config` as in trial.json; the experiment's name gets the suffix, and its results a separate folder. Non-empty comments
// precede it, one per line.
std::string RecommendedFile(nlohmann::json config, const std::string& suffix, const std::vector<std::string>& comments,
                            OfBudget budget = OfBudget::kLeftOut);

// The arguments that `run` needs after the name of such a file.
std::string StartedWith(const std::string& recommended);

}  // namespace backplane
