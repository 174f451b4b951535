// A batch as its folder shows it, from outside: for status, watch and stop, which share nothing with the supervisor but files.
#pragma once

#include <filesystem>
#include <map>
#include <memory>
#include <string>
#include <vector>

#include "record/batch_record.hpp"
#include "record/measurements.hpp"
#include "record/plan_file.hpp"
#include "record/results_folder.hpp"
#include "record/status_reader.hpp"
#include "screen/eta.hpp"
#include "screen/status_table.hpp"
#include "store/progress_file.hpp"

namespace backplane {

class BatchView {
 public:
  // Reads everything once. Throws std::runtime_error: a sentence if `out` is no results folder.
  explicit BatchView(const std::filesystem::path& out);
  // Looks again; cheap if little has happened. Throws std::runtime_error.
  void Refresh();
  // Rows keep the displayed values of finished trials, and record() drops them from now on. For the supervisor, which runs for
  // days: its memory must not grow with finished trials.
  void ForgetEnded();

  bool running() const { return running_; }                    // a supervisor is at work
  const std::vector<BatchRow>& rows() const { return rows_; }  // trials of the plan, in its order
  const BatchTotals& totals() const { return totals_; }
  double earlier_s() const { return earlier_s_; }  // how long the sessions before the last one ran
  const BatchRecord& record() const { return events_.record(); }
  BatchProgress Progress() const;  // for progress.json; the folder's name is the experiment's name

 private:
  struct Trial {
    PlanLine plan;
    size_t point = 0;               // the same number for all trials of a point
    unsigned measured_attempt = 0;  // whose numbers stand in the row
    bool measured_ended = false;
    std::unique_ptr<StatusReader> status;  // of measured_attempt while it runs
  };
  // The plan of a search grows.
  void TakePlan();
  void CountSessions();
  double EndOf(size_t session) const;  // seconds since 1970
  void RefreshTrial(Trial& trial, BatchRow& row);
  // The place of a trial on a cluster: kQueued or kLost instead of kRunning or kPlanned.
  void FillPlace(const TrialRecord& known, BatchRow& row) const;
  void FillRunning(Trial& trial, const AttemptRecord& attempt, BatchRow& row);
  void FillEnded(Trial& trial, const TrialRecord& known, BatchRow& row);
  Measurements MeasuredWithin(const Trial& trial, const TrialRecord& known) const;  // the budget in the plan
  std::string State() const;
  size_t ToCome() const;
  std::optional<double> TimeLeft();
  const std::vector<FinishedTrial>& EarlierTrials();
  static std::string EvidenceText(const EtaEvidence& evidence);
  std::string BestSoFar() const;

  ResultsFolder folder_;
  std::filesystem::file_time_type plan_written_;  // that was read
  EventReader events_;
  std::vector<Trial> trials_;
  std::vector<BatchRow> rows_;
  BatchTotals totals_;
  std::vector<FinishedTrial> earlier_trials_;
  size_t earlier_of_ = 0;        // trials on record when they were read
  size_t counted_sessions_ = 0;  // in earlier_s_
  double earlier_s_ = 0;
  bool running_ = false;
  double now_ = 0;  // seconds since 1970, of the last look
};

}  // namespace backplane
