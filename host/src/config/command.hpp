// A trial by command: `learner.command` stands in the place of a plugin. Its words have placeholders, and those that are not
// the host's own are the learner's options.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "config/plugins.hpp"

namespace backplane {

// What stands for the plugins that such a trial does not load.
inline constexpr char kCommandLearner[] = "learner.command", kNoEnv[] = "env.none";

// Filled in by the host when the command starts: of the trial, what it was granted and rollout.*.
inline constexpr std::array<std::string_view, 6> kHostPlaceholders = {"seed",    "trial_dir", "checkpoint_dir",
                                                                      "attempt", "rows",      "cpus"};
bool IsHostPlaceholder(std::string_view name);

// The names in "--lr={lr}", in their order; "{{" and "}}" are braces. Absent, and a sentence in `why_not`: a brace alone, or
// one around what is no name.
std::optional<std::vector<std::string>> PlaceholdersIn(std::string_view word, std::string* why_not);
// `value_of` is asked for each placeholder. The word has no error.
std::string FillPlaceholders(std::string_view word, const std::function<std::string(const std::string& name)>& value_of);
// The path that a word without placeholders may be; empty: it has some.
std::string PlainWord(std::string_view word);

// Whether the learner is a command. One that is wrongly written is one, too.
bool HasCommand(const Node& root);
// Makes paths of files beside the experiment file absolute, and gives what stands for the learner's plugin.
PluginSlot ResolveCommand(Node* root);
PluginSlot SlotWithoutEnv();

}  // namespace backplane
