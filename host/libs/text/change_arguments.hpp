// A change of an experiment file in words, and as what is typed to try it.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/fix.hpp"

namespace backplane {

// "rollout.threads: 16 -> 2"
std::string ChangeText(const Fix& fix);
// What is typed for it: values for --set, and one for --sweep if the path is swept.
struct ChangeArguments {
  std::vector<std::string> set, sweep;
};
ChangeArguments ArgumentsOf(const Fix& fix);
// As it is typed: "--set rollout.threads=2", of a swept path "--sweep rollout.threads=16,2", of a point with a name
// "--sweep before:rollout.threads=2"
std::string ChangeArgument(const Fix& fix);
// The line to paste.
std::string ChangeCommand(const Fix& fix);

// The folder beside `out` in which a change is tried.
std::filesystem::path TryFolder(const std::filesystem::path& out);

// What a batch in another folder needs beside it to leave alone what the first wrote outside its own, by its `output`: for
// --set, and as text.
std::vector<std::string> SetsForAnotherFolder(const nlohmann::json& output, const std::string& folder);
std::string SettingsForAnotherFolder(const nlohmann::json& output, const std::string& folder);

// Whether the change takes the place of what was typed for --set or --sweep, as both are about the same path.
bool GivesWay(const Fix& fix, const std::string& typed);

}  // namespace backplane
