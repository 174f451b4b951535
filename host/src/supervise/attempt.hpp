// One process run of a trial: its folder before, its signs of life meanwhile, its record afterwards.
#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "config/loader.hpp"
#include "supervise/engine.hpp"
#include "supervise/layout.hpp"
#include "supervise/outcome.hpp"
#include "supervise/status_reader.hpp"
#include "trial/contract.hpp"

namespace backplane {

struct AttemptPlace {
  std::filesystem::path out;        // the results folder
  std::filesystem::path program;    // what answers to `run-trial`
  std::filesystem::path torch_lib;  // empty: none known
  int lock_fd = -1;                 // of the folder's lock; stays open in the keeper
};

// What the trial's next attempt is to be told. `after` is the id of the trial whose learner it starts from; empty: of none.
TrialSpec SpecOf(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id,
                 const std::string& after);

class Attempt {
 public:
  // Makes the attempt's folder and trial.json. Throws std::runtime_error.
  Attempt(const AttemptPlace& place, const LoadedExperiment& loaded, const std::string& trial_id, const std::string& after,
          const Grant& grant);

  TrialCommand Command() const;
  unsigned number() const { return static_cast<unsigned>(spec_.attempt); }
  bool resumed() const { return spec_.resume; }
  const std::filesystem::path& folder() const { return spec_.attempt_dir; }
  const BudgetConfig& budget() const { return spec_.experiment.budget; }

  // Reads the status file; what must be done about the trial now, if anything. `elapsed_s` since it was started.
  std::optional<StopHow> Look(double elapsed_s);
  void Interrupted() { Stopped(StopReason::kInterrupt); }
  const std::optional<StatusFile>& last() const { return last_; }

  struct Ended {
    Verdict verdict;
    nlohmann::json result;  // as it stands in result.json now
    std::string unwritten;  // why it does not stand there, the disk being full for example; the events still say how it ended
  };
  // Tells how it ended and completes its result.json.
  Ended Conclude(const JobEnd& end);

 private:
  void Stopped(StopReason reason);
  nlohmann::json Record(nlohmann::json record, const Verdict& verdict, const JobEnd& end) const;

  AttemptPlace place_;
  TrialFolder folder_;
  TrialSpec spec_;
  Grant grant_;
  StatusReader status_;
  std::optional<StatusFile> last_;
  double last_sign_s_ = 0;
  StopReason stop_ = StopReason::kNone;
};

}  // namespace backplane
