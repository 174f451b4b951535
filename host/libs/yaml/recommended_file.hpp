// An experiment file with the setting of one point of a finished experiment, to be trained with.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace backplane {

// What a file without a budget, such as a recommended one, can be started with.
inline constexpr char kSomeBudget[] = "--set budget.iterations=100";

// `config` as in trial.json; the experiment's name gets the suffix and its results a folder of their own. The comments stand on
// top, a line each, and empty ones not. There is no budget: `run` asks for one, except of a command.
std::string RecommendedFile(nlohmann::json config, const std::string& suffix, const std::vector<std::string>& comments);

// What `run` needs after the name of such a file, by what the file says.
std::string StartedWith(const std::string& recommended);

}  // namespace backplane
