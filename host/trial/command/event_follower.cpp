#include "command/event_follower.hpp"

#include <algorithm>
#include <system_error>
#include <utility>

#include "command/path_pattern.hpp"
#include "tf_events/tf_events.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr char kInName[] = "tfevents";  // TensorBoard finds the files by it
constexpr size_t kMostFiles = 1000;
// Searching the folders may take 1/50 of the time, because a command may keep many files there.
constexpr int kWalkRest = 50;

// "return" for "charts/episodic_return", which `export tb` writes for the same readers.
std::string MeasureOfTag(const std::string& tag) {
  for (const char* name : {"return", "sps"})
    if (tag == ChartAlias(name)) return name;
  return tag;
}

void HandOver(Report* open, const UseReport& use) {
  const Report report = std::exchange(*open, Report());
  if (!report.empty()) use(report);
}

}  // namespace

void EventFollower::FindFiles() {
  const auto before = std::chrono::steady_clock::now();
  if (before < look_again_) return;
  std::error_code error;
  for (fs::recursive_directory_iterator it(folder_, fs::directory_options::skip_permission_denied, error), end;
       !error && it != end; it.increment(error)) {
    const std::string name = it->path().filename().string();
    if (name.find(kInName) == name.npos || files_.size() >= kMostFiles || !it->is_regular_file(error)) continue;
    const fs::path file = it->path();
    if (!files_.contains(file) && MatchesPath(pattern_, file.lexically_relative(folder_).string()))
      files_.emplace(file, Followed{TfEventReader(file), {}, false});
  }
  const auto after = std::chrono::steady_clock::now();
  look_again_ = after + kWalkRest * (after - before);
}

void EventFollower::ReadAll(const UseReport& use) {
  for (auto& [name, file] : files_) {
    file.has_grown = false;
    file.reader.Read([&, &file = file](const TfValue& value) {
      file.has_grown = true;
      const std::string measure = MeasureOfTag(value.tag);
      const auto step = value.step >= 0 ? std::optional(static_cast<uint64_t>(value.step)) : std::nullopt;
      if (file.open.step != step || file.open.values.contains(measure)) HandOver(&file.open, use);
      file.open.step = step;
      file.open.values[measure] = value.value;
    });
  }
}

void EventFollower::Look(const UseReport& use) {
  FindFiles();
  ReadAll(use);
  for (auto& [name, file] : files_)
    if (!file.has_grown) HandOver(&file.open, use);
}

void EventFollower::Finish(const UseReport& use) {
  look_again_ = {};
  FindFiles();
  ReadAll(use);
  for (auto& [name, file] : files_) HandOver(&file.open, use);
}

std::vector<std::string> EventFollower::damages() const {
  std::vector<std::string> sentences;
  for (const auto& [name, file] : files_)
    if (!file.reader.damage().empty()) sentences.push_back(file.reader.damage());
  return sentences;
}

}  // namespace backplane
