// One process run of a trial: its folder before, its signs of life meanwhile, its record afterwards.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "base/held_folder.hpp"
#include "batch/engine.hpp"
#include "batch/folder_watch.hpp"
#include "batch/outcome.hpp"
#include "batch/watchdog.hpp"
#include "config/loader.hpp"
#include "contract/trial_spec.hpp"
#include "record/attempt_files.hpp"
#include "store/out_folder.hpp"

namespace backplane {

struct AttemptPlace {
  std::filesystem::path out;                 // the results folder
  std::filesystem::path program;             // backplane-trial
  std::filesystem::path torch_lib;           // empty: none known
  std::vector<int> lock_fds;                 // of the folder's lock; they stay open in the shim
  FolderWatch* watch = nullptr;              // NULL: nobody looks after the folder
  std::optional<StartFrom> start_from = {};  // of a trial that starts from none of its own experiment
};

// What the trial's next attempt is to be told. `after` is the id of the trial whose learner it starts from; empty: of none.
TrialSpec SpecOf(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after);

class Attempt {
 public:
  // Makes the attempt's folder and trial.json, and locks the trial's folder as long as it exists. Throws std::runtime_error.
  Attempt(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id, const std::string& after,
          const Allocation& allocation);

  TrialCommand Command() const;
  unsigned number() const { return static_cast<unsigned>(spec_.attempt); }
  bool resumed() const { return spec_.resume; }
  const std::filesystem::path& folder() const { return spec_.attempt_dir; }
  const HeldFolder& trial() const { return held_; }
  const BudgetConfig& budget() const { return spec_.experiment.budget; }

  // As Watchdog::Look.
  std::optional<StopHow> Look(const std::optional<StatusFile>& now, double elapsed_s);
  void Interrupted() { watchdog_.Interrupted(); }
  const std::optional<StatusFile>& last() const { return last_; }
  double suspended_s() const { return last_ ? last_->suspended_s : 0; }  // in which it was stopped

  struct Ended {
    AttemptVerdict verdict;
    std::vector<std::string> warnings;  // of the trial, for the user
    PluginFacts facts;
    AttemptFiles files;
    std::string unwritten;  // why it does not stand there, the disk being full for example; the events still say how it ended
  };
  // Tells how it ended and completes its result.json.
  Ended Finish(const JobEnd& end);

 private:
  AttemptFolder Here() const;     // the attempt's folder, also after it was moved
  std::string LastWords() const;  // empty: none
  nlohmann::json Record(nlohmann::json record, const AttemptVerdict& verdict, const JobEnd& end) const;

  AttemptPlace place_;
  TrialFolder folder_;
  TrialSpec spec_;
  HeldFolder held_;  // of the trial, after the attempt's was made in it
  Watchdog watchdog_;
  Allocation allocation_;
  std::optional<StatusFile> last_;
};

}  // namespace backplane
