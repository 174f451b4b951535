// Runs of other tools as results folders, made by the program of `backplane import`.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

struct ForeignChoices {
  std::string metric, direction;  // empty: the import chooses
  bool are_arms = false;          // each path is an arm of a comparison; all go into one folder
};

// The words that start the program with these arguments. Empty: it is not installed.
std::vector<std::string> ImportProgram(std::vector<std::string> arguments);

// True if the path exists and is neither a results folder nor an experiment file.
bool MayBeForeign(const std::filesystem::path& path);

// The results folder of the runs below the paths. The paths themselves are no runs: an empty path. Absent after an error of the
// import, which it has printed.
std::optional<std::filesystem::path> ImportForeign(const std::vector<std::filesystem::path>& paths, const std::string& program,
                                                   const ForeignChoices& choices = {});

// Replaces each path of foreign runs by a results folder of its own. False after such an error.
bool ReplaceForeign(std::vector<std::filesystem::path>* paths, const std::string& program, const ForeignChoices& choices = {});

}  // namespace backplane
