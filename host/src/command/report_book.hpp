// What a command's reports make of its attempt: lines of metrics.jsonl, the status, and the result.
#pragma once

#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "command/lines_before.hpp"
#include "command/report.hpp"
#include "record/iteration.hpp"
#include "trial/budget.hpp"
#include "trial/recorder.hpp"
#include "trial/status.hpp"
#include "trial/trial_clock.hpp"

namespace backplane {

class ReportBook {
 public:
  // Both outlive it. Makes metrics.jsonl.
  ReportBook(const TrialSpec& spec, StatusWriter* status);

  void Start() { clock_.Start(); }
  // A command that reported nothing in this attempt has what the attempts before it said.
  void Stop() {
    GoOnFrom({});
    clock_.Stop();
  }
  // Writes its line. Throws std::runtime_error: a full disk, for example.
  void Add(const Report& report);
  Spent SpentNow() const;
  double attempt_s() const { return clock_.attempt_s(); }
  uint64_t reports() const { return reports_; }

  LoopResult Result() const;
  void Sync() { file_.Sync(); }
  const std::vector<std::string>& warnings() const { return warnings_; }

 private:
  // Of the last tenth of them there is a mean.
  struct Values {
    std::vector<double> kept;
    uint64_t n = 0;

    void Add(double value);
    Spread LastTenth() const;
  };

  void GoOnFrom(const Report& first);
  void Put(const std::string& name, double value, Iteration* line);
  void PutOfEpisodes(const std::string& name, double value, Iteration* line);
  bool Takes(const std::string& name);
  void AddSpeed(double before_s, const std::optional<uint64_t>& step_before, Iteration* line);
  void Show(const Iteration& line);

  const TrialSpec& spec_;
  StatusWriter& status_;
  MetricsFile file_;
  TrialClock clock_;
  std::optional<LinesBefore> before_;  // until the first report
  std::vector<MetricsPart> parts_before_;
  uint64_t reports_ = 0;
  std::optional<uint64_t> step_, episodes_;
  double last_s_ = 0;  // of the attempt, at the last report
  std::set<std::string> names_;
  std::map<std::string, Values> of_episodes_;  // "return", "ep/length"
  EpisodeMeans evaluation_;
  struct Sum {
    double value = 0;
    uint64_t n = 0;
  };
  Sum told_sps_;  // by the command itself, without its first one
  bool told_first_ = false;
  std::optional<double> first_told_sps_;
  struct Place {
    double s = 0;
    uint64_t step = 0;
  };
  std::optional<Place> first_step_, last_step_;  // of this attempt
  std::vector<std::string> warnings_;
};

}  // namespace backplane
