// The words of `learner.command` and their placeholders, such as {seed} and {lr}. The host fills some in; the others are
// options of the learner.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// Names of the plugins that a trial by command does not load.
inline constexpr char kCommandLearner[] = "learner.command", kFunctionLearner[] = "learner.function", kNoEnv[] = "env.none";

// True for the keys that choose a learner.
bool ChoosesLearner(std::string_view path);

// The host fills these in when the command starts, from the trial, its resources and rollout.*.
inline constexpr std::array<std::string_view, 6> kHostPlaceholders = {"seed",    "trial_dir", "checkpoint_dir",
                                                                      "attempt", "rows",      "cpus"};
bool IsHostPlaceholder(std::string_view name);

// Returns the names in "--lr={lr}", in their order; "{{" and "}}" are braces. Absent, with a sentence in `why_not`: a single
// brace, or braces around other text.
std::optional<std::vector<std::string>> PlaceholdersIn(std::string_view word, std::string* why_not);
// Calls `value_of` for each placeholder of a word that PlaceholdersIn accepts.
std::string FillPlaceholders(std::string_view word, const std::function<std::string(const std::string& name)>& value_of);
// The path that a word without placeholders may be; empty: it has some.
std::string PlainWord(std::string_view word);

}  // namespace backplane
