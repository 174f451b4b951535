// One process run of a trial: prepares its folder, watches its signs of life, completes its record.
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
  std::filesystem::path torch_lib;           // empty: unknown
  std::vector<int> lock_fds;                 // the results folder's lock; the shim keeps them open
  FolderWatch* watch = nullptr;              // NULL: the folder is not watched
  std::optional<StartFrom> start_from = {};  // for trials that continue no other trial of the experiment
  std::filesystem::path kept_in = {};        // a check elsewhere reads the kept policies of this results folder; empty: none
};

// The specification of the trial's next attempt. `after` is the id of the trial whose learner it starts from; empty: no such
// trial.
TrialSpec SpecOf(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after);

class Attempt {
 public:
  // Makes the attempt's folder and trial.json. Locks the trial's folder until destruction. Throws std::runtime_error.
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
  double suspended_s() const { return last_ ? last_->suspended_s : 0; }  // time during which the trial was stopped

  struct Ended {
    AttemptVerdict verdict;
    std::vector<std::string> warnings;  // from the trial, for the user
    PluginFacts facts;
    AttemptFiles files;
    std::string unwritten;  // why result.json could not be written, for example a full disk; the events still record the end
  };
  // Judges the end and completes result.json.
  Ended Finish(const JobEnd& end);

 private:
  AttemptFolder Here() const;     // also after the folder was moved
  std::string LastWords() const;  // empty: none
  nlohmann::json Record(nlohmann::json record, const AttemptVerdict& verdict, const JobEnd& end) const;

  AttemptPlace place_;
  TrialFolder folder_;
  TrialSpec spec_;
  HeldFolder held_;  // the trial's folder; the attempt's is created in it
  Watchdog watchdog_;
  Allocation allocation_;
  std::optional<StatusFile> last_;
};

}  // namespace backplane
