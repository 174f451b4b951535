// An experiment file with the setting of one point of a finished experiment, to be trained with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane {

// What a file without a budget, such as a recommended one, can be started with.
inline constexpr char kSomeBudget[] = "--set budget.iterations=100";

// The budget of a measurement is none of a training: without one `run` asks for it, except of a command. That of a search's
// trials is.
enum class OfBudget { kLeftOut, kKept };

// `config` as in trial.json; the experiment's name gets the suffix and its results a folder of their own. The comments stand on
// top, a line each, and empty ones not.
std::string RecommendedFile(nlohmann::json config, const std::string& suffix, const std::vector<std::string>& comments,
                            OfBudget budget = OfBudget::kLeftOut);

// What `run` needs after the name of such a file, by what the file says.
std::string StartedWith(const std::string& recommended);

}  // namespace backplane
