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

// `env: NAME` is short for `env: {plugin: NAME}`, and so for the learner; `rollout: auto` says nothing. Any other value as it
// is.
Node LongForm(const std::string& path, Node value);

// The same for every path that is a key, at any depth.
void UseTodaysPaths(Node* node);

// Gives every key of an experiment file the host's name of today and writes short forms out. An older name beside today's is an
// error.
void UseOneSpelling(Node* root, Errors* errors);

// Adds `experiment:` where a file has none: what the file is called.
void NameAfterFile(const std::filesystem::path& file, Node* root);

}  // namespace backplane
