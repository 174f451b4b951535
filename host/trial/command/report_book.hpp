// Turns a command's reports into the record of its attempt: lines of metrics.jsonl, the status, and the result.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "command/curve_join.hpp"
#include "command/report.hpp"
#include "record/finite_tail.hpp"
#include "record/iteration.hpp"
#include "trial/budget.hpp"
#include "trial/recorder.hpp"
#include "trial/status.hpp"
#include "trial/trial_count.hpp"

namespace backplane {

class ReportBook {
 public:
  // Both outlive it. Creates metrics.jsonl.
  ReportBook(const TrialSpec& spec, StatusWriter* status);

  void Start() { clock_.Start(); }
  // Without a report in this attempt, the values of earlier attempts count.
  void Stop() {
    Join();
    clock_.Stop();
  }
  // Writes its line. Throws std::runtime_error, for example if the disk is full.
  void Add(const Report& report);
  Spent SpentNow() const;
  double attempt_s() const { return clock_.attempt_s(); }
  uint64_t reports() const { return reports_; }

  LoopResult Result() const;
  void Sync() { file_.Sync(); }
  // Returns a sentence if a deciding metric was finite and no longer is. Empty: the trial has not diverged.
  std::string Divergence() const;
  // Sentences. The first line of each is the same for all affected trials.
  std::vector<std::string> warnings() const;

 private:
  // The values of one metric that its result needs.
  struct Values {
    std::vector<double> kept;
    uint64_t n = 0;

    void Add(double value);
    Spread LastTenth() const;
    Spread Last() const;

   private:
    std::vector<double> LastOnes(uint64_t count) const;
    // Mean and number of the finite values in the window; NaN if there are none.
    Spread OfTheFinite() const;
  };

  void Join();
  void WriteJoined(const CurveJoin& join);
  void Write(const HeldReport& held);
  Iteration LineOf(const HeldReport& held);
  void Keep(const std::string& name, double value);
  void Put(const std::string& name, double value, Iteration* line);
  void PutOfEpisodes(const std::string& name, double value, Iteration* line);
  bool Takes(const std::string& name);
  void AddSpeed(double before_s, const std::optional<uint64_t>& step_before, Iteration* line);
  void Warn(const std::string& sentence);
  void Show(const Iteration& line);

  const TrialSpec& spec_;
  StatusWriter& status_;
  MetricsFile file_;
  TrialClock clock_;
  std::optional<CurveJoin> join_;  // until the step is known at which the attempt resumes
  std::vector<MetricsPart> parts_before_;
  double before_s_ = 0;  // seconds of earlier attempts
  uint64_t reports_ = 0;
  std::optional<uint64_t> step_, episodes_;
  double last_s_ = 0;                          // seconds of the attempt at the last report
  bool has_lines_before_ = false;              // from earlier attempts, whose other metrics are not read
  std::map<std::string, FiniteTail> names_;    // by metric
  std::map<std::string, Values> of_episodes_;  // "return", "ep/length", "eval/return"
  struct Sum {
    double value = 0;
    uint64_t n = 0;
  };
  Sum told_sps_;  // reported by the command, without its first value
  bool told_first_ = false;
  std::optional<double> first_told_sps_;
  struct Place {
    double s = 0;
    uint64_t step = 0;
  };
  std::optional<Place> first_step_, last_step_;  // in this attempt
  std::vector<std::string> warnings_;
};

}  // namespace backplane
