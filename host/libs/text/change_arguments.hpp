// Describes a change of an experiment file in words and as command-line arguments.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "record/fix.hpp"

namespace backplane {

// "rollout.threads: 16 -> 2"
std::string ChangeText(const Fix& fix);
// Values for --set, and one for --sweep if the path is swept.
struct ChangeArguments {
  std::vector<std::string> set, sweep;
};
ChangeArguments ArgumentsOf(const Fix& fix);
// Complete arguments: "--set rollout.threads=2", for a swept path "--sweep rollout.threads=16,2", for a named point "--sweep
// before:rollout.threads=2"
std::string ChangeArgument(const Fix& fix);
// The line to paste.
std::string ChangeCommand(const Fix& fix);

// The folder next to `out` in which a change is tried.
std::filesystem::path TryFolder(const std::filesystem::path& out);

// Settings that keep a batch in another folder from overwriting files that the first wrote outside its folder, from its
// `output`: values for --set, and the same as text.
std::vector<std::string> SetsForAnotherFolder(const nlohmann::json& output, const std::string& folder);
std::string SettingsForAnotherFolder(const nlohmann::json& output, const std::string& folder);

// True if the change replaces a typed --set or --sweep value because both concern the same path.
bool GivesWay(const Fix& fix, const std::string& typed);

}  // namespace backplane
