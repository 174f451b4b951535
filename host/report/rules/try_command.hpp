// The line that tries what a finding proposes: the batch's own command with the change.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "results/result_set.hpp"
#include "rules/findings.hpp"

namespace backplane {

// Fix::command of every change; `program` as a person types it.
void AddTryCommands(const std::vector<ResultSet>& sets, const std::string& program, Diagnosis* diagnosis);

// The folder beside `out` in which a change is tried.
std::filesystem::path TryFolder(const std::filesystem::path& out);

// What a batch in another folder needs beside it to leave alone what the first wrote outside its own, by its `output`: for
// --set, and as text.
std::vector<std::string> SetsForAnotherFolder(const nlohmann::json& output, const std::string& folder);
std::string SettingsForAnotherFolder(const nlohmann::json& output, const std::string& folder);

// Whether the change takes the place of what was typed for --set or --sweep, as both are about the same path.
bool GivesWay(const Fix& fix, const std::string& typed);

}  // namespace backplane
