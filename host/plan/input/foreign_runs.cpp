#include "input/foreign_runs.hpp"

#include <algorithm>
#include <cstdio>
#include <iterator>

#include "base/python.hpp"
#include "base/run_process.hpp"
#include "input/experiment_file.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr int kNoRuns = 3;  // exit code: no files of a known tool
constexpr std::chrono::hours kImportLimit{1};

}  // namespace

std::vector<std::string> ImportProgram(std::vector<std::string> arguments) {
  const std::string file = BesideProgram("backplane-import.py").string();
  if (file.empty()) return {};
  std::vector<std::string> words = {FindPython(), file, "--version=" BACKPLANE_VERSION};
  std::ranges::move(arguments, std::back_inserter(words));
  return words;
}

bool MayBeForeign(const fs::path& path) {
  std::error_code error;
  const bool yaml = path.extension() == ".yaml" || path.extension() == ".yml";
  return fs::exists(path, error) && !IsResultsFolder(path) && !(yaml && fs::is_regular_file(path, error));
}

std::optional<fs::path> ImportForeign(const std::vector<fs::path>& paths, const std::string& program,
                                      const ForeignChoices& choices) {
  std::vector<std::string> words = {"--folder-only", "--program=" + program};
  if (!choices.metric.empty()) words.push_back("--metric=" + choices.metric);
  if (!choices.direction.empty()) words.push_back("--direction=" + choices.direction);
  if (choices.are_arms) words.emplace_back("--arms");
  words.emplace_back("--");
  for (const fs::path& path : paths) words.push_back(path.string());
  ProcessCall call{ImportProgram(words)};
  call.limit = kImportLimit;
  if (call.words.empty()) return fs::path();
  const ProcessEnd end = RunProcess(call);
  if (!end.started || end.code == kNoRuns) return fs::path();
  std::fputs(end.err.c_str(), stderr);
  if (!end.ok()) return std::nullopt;
  return fs::path(end.out.substr(0, end.out.find('\n')));
}

bool ReplaceForeign(std::vector<fs::path>* paths, const std::string& program, const ForeignChoices& choices) {
  for (fs::path& path : *paths) {
    if (!MayBeForeign(path)) continue;
    const std::optional<fs::path> made = ImportForeign({path}, program, choices);
    if (!made) return false;
    if (!made->empty()) path = *made;
  }
  return true;
}

}  // namespace backplane
