// Paths in a results folder OUT and in its trial folders. Only this file defines these names.
#pragma once

#include <algorithm>
#include <charconv>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <system_error>
#include <utility>

namespace backplane {

inline constexpr char kPlanName[] = "plan.jsonl", kEventsName[] = "events.jsonl", kRunName[] = "run.json",
                      kConfigName[] = "config.yaml", kPageName[] = "index.html";

struct AttemptFolder {
  AttemptFolder(std::filesystem::path attempt_dir) : folder(std::move(attempt_dir)) {}
  std::filesystem::path folder;

  std::filesystem::path metrics() const { return folder / "metrics.jsonl"; }
  std::filesystem::path fingerprints() const { return folder / "fingerprints.bin"; }
  std::filesystem::path result() const { return folder / "result.json"; }
  std::filesystem::path status() const { return folder / "status"; }
  std::filesystem::path prune() const { return folder / "prune"; }    // of the supervisor: the trial is to end, saved
  std::filesystem::path stacks() const { return folder / "stacks"; }  // of a crash or a hang, until they are in the record
  std::filesystem::path standard_output() const { return folder / "stdout.log"; }
  std::filesystem::path standard_error() const { return folder / "stderr.log"; }
  std::filesystem::path resources() const { return folder / "resources.csv"; }  // of the monitor `resources`
};

struct TrialFolder {
  std::filesystem::path folder;  // OUT/trials/<id>

  std::filesystem::path trial_json() const { return folder / "trial.json"; }
  std::filesystem::path checkpoint() const { return folder / "checkpoint"; }
  // The unused checkpoint from before attempt `number` restarted without it.
  std::filesystem::path checkpoint_before(unsigned number) const {
    return folder / ("checkpoint.before-" + AttemptName(number));
  }
  // Held with flock by the trial's process on a cluster node, because the supervisor's lock on OUT does not reach that node.
  std::filesystem::path node_lock() const { return folder / "node.lock"; }
  AttemptFolder attempt(unsigned number) const { return folder / AttemptName(number); }

  // Replays of the trial, kept next to its record. Each is a trial folder that also serves as the folder of its only attempt.
  TrialFolder replay(unsigned number) const { return {folder / ("replay-" + std::to_string(number))}; }

  unsigned LastAttempt() const {  // 0: none
    unsigned last = 0;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error))
      last = std::max(last, AttemptNumber(entry.path().filename().string()).value_or(0));
    return last;
  }

  // Film of an evaluation episode.
  std::filesystem::path film(uint64_t episode) const {
    return folder / (std::string(kFilm) + std::to_string(episode) + ".svg");
  }
  std::map<uint64_t, std::filesystem::path> Films() const {  // existing films by episode
    std::map<uint64_t, std::filesystem::path> films;
    std::error_code error;
    for (const auto& entry : std::filesystem::directory_iterator(folder, error)) {
      const std::string stem = entry.path().stem().string();
      if (entry.path().extension() != ".svg") continue;
      if (const auto episode = NumberBehind(kFilm, stem)) films[*episode] = entry.path();
    }
    return films;
  }

  static std::string AttemptName(unsigned number) { return std::string(kAttempt) + std::to_string(number); }
  // Absent: it is not the name of an attempt's folder.
  static std::optional<unsigned> AttemptNumber(std::string_view name) { return NumberBehind(kAttempt, name); }

 private:
  static constexpr std::string_view kAttempt = "attempt-", kFilm = "episode-";

  static std::optional<unsigned> NumberBehind(std::string_view word, std::string_view name) {
    if (!name.starts_with(word)) return std::nullopt;
    unsigned number = 0;
    const char* const end = name.data() + name.size();
    const auto read = std::from_chars(name.data() + word.size(), end, number);
    return read.ec == std::errc() && read.ptr == end ? std::optional(number) : std::nullopt;
  }
};

struct ResultsFolder {
  static constexpr size_t kStartDigits = 16;
  std::filesystem::path out;

  std::filesystem::path plan() const { return out / kPlanName; }
  std::filesystem::path events() const { return out / kEventsName; }
  std::filesystem::path run() const { return out / kRunName; }
  std::filesystem::path config() const { return out / kConfigName; }
  std::filesystem::path database() const { return out / "results.sqlite"; }
  // `named`: output.progress_file; an absolute path stays unchanged; empty: default name.
  std::filesystem::path progress(const std::string& named = "") const {
    return out / (named.empty() ? "progress.json" : named);
  }
  std::filesystem::path logs() const { return out / "logs"; }
  std::filesystem::path page() const { return out / kPageName; }
  std::filesystem::path lock() const { return out / "lock"; }
  std::filesystem::path check() const { return out / "check"; }               // of the options, before the first trial
  std::filesystem::path engine() const { return out / "engine"; }             // messages between supervisor and cluster nodes
  std::filesystem::path search_log() const { return logs() / "search.log"; }  // of the search process
  // Of the run of `run` that is to begin: the first number that is free.
  std::filesystem::path next_session_log() const {
    std::filesystem::path file;
    std::error_code error;
    for (unsigned n = 1; file.empty() || std::filesystem::exists(file, error); ++n)
      file = logs() / ("session-" + std::to_string(n) + ".log");
    return file;
  }
  // Policies that trials start from (record/kept_start.hpp), each in a folder named after its hash.
  std::filesystem::path starts() const { return out / "starts"; }
  std::filesystem::path start(const std::string& sha256) const { return starts() / sha256.substr(0, kStartDigits); }
  std::filesystem::path trials() const { return out / "trials"; }
  TrialFolder trial(const std::string& trial_id) const { return {trials() / trial_id}; }
  AttemptFolder attempt(const std::string& trial_id, unsigned number) const { return trial(trial_id).attempt(number); }
};

}  // namespace backplane
