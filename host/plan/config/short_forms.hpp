// Other ways to write an experiment file: names of older versions and short forms. Once a file or an argument has been read,
// the rest of the program meets one spelling.
#pragma once

#include <filesystem>
#include <string>

#include "yaml/document.hpp"
#include "yaml/errors.hpp"

namespace backplane {

inline constexpr char kOlderNameOfStages[] = "phases";

// "phases.rise.budget.iterations" -> "stages.rise.budget.iterations". Any other path as it is.
std::string WithTodaysName(const std::string& path);

// `env: NAME` is short for `env: {plugin: NAME}`, and so for the learner; `checkpoint.best: NAME` for `{metric: NAME}`;
// `rollout: auto` sets nothing. Any other value is returned unchanged.
Node LongForm(const std::string& path, Node value);

// The same for every path that is a key, at any depth.
void UseTodaysPaths(Node* node);

// Renames the keys of an experiment file to their present names and expands short forms. An older name next to the present one
// is an error.
void UseOneSpelling(Node* root, Errors* errors);

// Adds `experiment:` with the file's name if it is missing.
void NameAfterFile(const std::filesystem::path& file, Node* root);

}  // namespace backplane
