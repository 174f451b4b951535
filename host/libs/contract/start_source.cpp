#include "contract/start_source.hpp"

#include <algorithm>
#include <vector>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"
#include "contract/checkpoint_files.hpp"
#include "record/find_trial.hpp"
#include "record/peek_header.hpp"
#include "record/results_folder.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

[[noreturn]] void FailSource(const std::string& why) { throw StartSourceError(std::string(kStartKey) + ": " + why); }

bool IsFile(const fs::path& path) {
  std::error_code error;
  return fs::is_regular_file(path, error);
}

bool HasTrials(const fs::path& path) {
  std::error_code error;
  return fs::is_directory(ResultsFolder{path}.trials(), error);
}

// The results folder of a trial that is named by a path, and the trial's name there; empty: its only trial.
struct NamedTrial {
  fs::path out;
  std::string trial;
};

NamedTrial FindNamed(fs::path path) {
  if (!path.has_filename()) path = path.parent_path();  // of a slash at the end
  const fs::path parent = path.parent_path();
  if (HasTrials(path)) return {path, ""};
  if (HasTrials(parent)) return {parent, path.filename()};
  if (parent == ResultsFolder{parent.parent_path()}.trials() && HasTrials(parent.parent_path()))
    return {parent.parent_path(), path.filename()};
  FailSource("expected a trial (OUT/TRIAL or OUT/TRIAL@best) or a policy file, got neither at '" + path.string() + "'");
}

// The file and header of the checkpoint `name` in `dir`. A number leads to the best one last, because it may have only the
// policy.
std::pair<fs::path, CheckpointHeader> FindCheckpoint(const fs::path& dir, const std::string& name) {
  std::string there;
  std::vector<fs::path> files;
  for (unsigned number = 0; IsCheckpointFile(CheckpointFile(dir, number)); ++number)
    files.push_back(CheckpointFile(dir, number));
  files.push_back(dir / kBestCheckpointFile);
  for (const fs::path& file : files) {
    const std::optional<CheckpointHeader> header = PeekHeader(file);
    if (!header) continue;
    const bool is_best = file == files.back(), is_last = file == CheckpointFile(dir, 0);
    if ((name == kBestCheckpoint && is_best) || (name == kLastCheckpoint && is_last) ||
        name == std::to_string(header->iterations))
      return {file, *header};
    there += (there.empty() ? "" : ", ") + (is_best ? std::string(kBestCheckpoint) : std::to_string(header->iterations));
  }
  FailSource("expected checkpoint '" + name + "' in " + dir.string() + ", got " + (there.empty() ? "none" : there));
}

StartSource FindInTrial(const fs::path& base, const std::string& name) {
  const NamedTrial named = FindNamed(base);
  StartSource source;
  try {
    source.trial_id = FindTrial(named.out, named.trial, PlanLinesOf(named.out));
  } catch (const std::runtime_error& e) {
    FailSource(e.what());
  }
  const auto [file, header] = FindCheckpoint(ResultsFolder{named.out}.trial(source.trial_id).checkpoint(), name);
  const CheckpointPart* const part = header.StartPart();
  if (part == nullptr) FailSource(file.string() + ": expected a learner's state or policy, got neither");
  source.file = file;
  source.sha256 = part->sha256;
  source.checkpoint = name;
  source.iterations = header.iterations;
  return source;
}

// The word behind an @ in the last part of the path.
std::string TakeCheckpointName(std::string* text) {
  const size_t at = text->rfind('@'), slash = text->rfind('/');
  if (at == text->npos || (slash != text->npos && at < slash)) return std::string(kLastCheckpoint);
  const std::string name = text->substr(at + 1);
  text->resize(at);
  if (name != kStartCheckpoint && WhyNoCheckpointName(name).empty()) return name;
  FailSource("expected @best, @last or @N (iterations) after the trial, got '@" + name + "'");
}

fs::path StartFileIn(const fs::path& folder) { return folder / kStartFile; }
fs::path RecordIn(const fs::path& folder) { return folder / "source.json"; }

std::optional<KeptStart> ReadKept(const fs::path& folder) {
  if (!IsFile(StartFileIn(folder))) return std::nullopt;
  const std::optional<std::string> text = ReadFile(RecordIn(folder));
  return text ? RecordOrNothing<KeptStart>(nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false)) : std::nullopt;
}

// Under a draft's name first, so that a killed session leaves no half file.
void CopySource(const StartSource& source, const fs::path& folder) {
  const fs::path draft = StartFileIn(folder).string() + ".draft";
  std::error_code error;
  fs::remove(draft, error);
  if (!source.trial_id.empty()) fs::create_hard_link(source.file, draft, error);
  if (source.trial_id.empty() || error) fs::copy_file(source.file, draft);
  fs::rename(draft, StartFileIn(folder));
  SyncFolder(folder);
}

std::string HashOfCopy(const fs::path& file, bool of_trial) {
  if (!of_trial) return Sha256OfFile(file);
  const std::optional<CheckpointHeader> header = PeekHeader(file);
  if (!header) return "";
  const CheckpointPart* const part = header->StartPart();
  return part == nullptr ? "" : part->sha256;
}

}  // namespace

StartSource FindStartSource(const std::string& text) {
  StartSource source;
  if (IsFile(text)) {
    source.file = text;
    source.sha256 = Sha256OfFile(text);
  } else {
    std::string base = text;
    const std::string name = TakeCheckpointName(&base);
    source = FindInTrial(base, name);
  }
  source.sources = {text};
  return source;
}

std::optional<KeptStart> FindKeptStart(const fs::path& out, const std::string& source) {
  std::optional<KeptStart> newest;
  fs::file_time_type time;
  std::error_code error;
  for (fs::directory_iterator it(ResultsFolder{out}.starts(), error), end; !error && it != end; it.increment(error)) {
    std::optional<KeptStart> kept = ReadKept(it->path());
    if (!kept || std::ranges::find(kept->sources, source) == kept->sources.end()) continue;
    std::error_code ignored;
    const fs::file_time_type now = fs::last_write_time(RecordIn(it->path()), ignored);
    if (!newest || now > time) newest = std::move(kept), time = now;
  }
  return newest;
}

KeptStart KeepStart(const fs::path& out, const std::string& text, const std::string& sha256) {
  const fs::path folder = ResultsFolder{out}.start(sha256);
  std::optional<KeptStart> kept = ReadKept(folder);
  if (kept && kept->sha256 != sha256) kept.reset();
  if (kept && std::ranges::find(kept->sources, text) != kept->sources.end()) {
    std::error_code ignored;
    fs::last_write_time(RecordIn(folder), fs::file_time_type::clock::now(), ignored);  // FindKeptStart returns the newest
    return *kept;
  }
  StartSource source;
  try {
    source = FindStartSource(text);
    if (source.sha256 != sha256) FailSource("'" + text + "' has changed since it was read; repeat the command");
  } catch (const StartSourceError&) {
    if (!kept) throw;
    return *kept;
  }
  fs::create_directories(folder);
  if (!kept) CopySource(source, folder);
  if (HashOfCopy(StartFileIn(folder), !source.trial_id.empty()) != sha256) {
    fs::remove(StartFileIn(folder));
    FailSource("'" + text + "' has changed while it was copied; repeat the command");
  }
  KeptStart record = source;
  if (kept) record.sources.insert(record.sources.begin(), kept->sources.begin(), kept->sources.end());
  WriteFileAtomic(RecordIn(folder), JsonText(ToJson(record), 1) + "\n");
  return record;
}

}  // namespace backplane
