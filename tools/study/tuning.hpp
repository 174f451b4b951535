// Tuning: measures one change after another against the current setting, and keeps it if the gain is significant. The new
// setting's findings propose the next change. This module only decides; TuningRuns runs the trials.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "study/change.hpp"
#include "study/gain.hpp"

namespace backplane {

// One side of a measurement.
struct MeasuredSide {
  std::vector<double> speeds;      // one per trial with a speed
  std::vector<Change> proposals;   // proposed by its findings, the best first
  std::optional<double> headroom;  // possible speedup without updates; absent: unknown
  std::string why_missing;         // the reason for a missing speed: "1 of 4 trials FAILED (oom): ..."
};

struct Measurement {
  MeasuredSide now;
  MeasuredSide tried;  // empty for the first measurement
  double seconds = 0;  // duration over all sessions
  double next_s = 0;   // expected duration of the next measurement of two sides
  bool busy = false;   // disturbed by other programs
  int direction = 1;   // of the speed: 1 up is better, -1 down
};

// Scores of a check of learning, one per seed; a side may have fewer.
struct LearningScores {
  std::string measure;
  int direction = 1;
  std::vector<double> original, tuned;
  std::vector<double> speeds_original, speeds_tuned;  // SPS
  std::string why_missing;                            // a sentence if a trial has no score
};

class TuningRuns {
 public:
  virtual ~TuningRuns() = default;
  // Measures the setting with the changes `kept`, and with `tried` added; NULL: only the first. The first step is 0. Equal
  // arguments give equal results. Absent if interrupted.
  virtual std::optional<Measurement> Measure(size_t step, const std::vector<Change>& kept, const Change* tried) = 0;
  // Measures the original experiment and the one with `kept`, for equal env steps and several seeds. Absent if interrupted.
  virtual std::optional<LearningScores> Learn(const std::vector<Change>& kept) = 0;
};

struct TuningStep {
  Change change;
  std::optional<double> before, after;  // speeds, geometric means; absent without a speed
  std::optional<Gain> gain;             // absent likewise
  std::optional<double> headroom_before;
  bool kept = false;
  bool taken_back = false;  // was kept, until the check of learning reverted it
  std::string why;          // a few words on why it was kept or not
  double seconds = 0;
  bool busy = false;

  static constexpr void Fields(auto& self, auto&& visit) {
    Change::Fields(self.change, visit);
    visit("before", NullIfAbsent(self.before));
    visit("after", NullIfAbsent(self.after));
    visit("gain", NullIfAbsent(self.gain));
    visit("kept", self.kept);
    visit("taken_back", self.taken_back);
    visit("why", self.why);
    visit("seconds", self.seconds);
    visit("busy_machine", self.busy);
  }
};

struct Tuning {
  std::vector<TuningStep> steps;
  std::optional<double> speed;     // of the unchanged experiment, first measurement
  std::optional<double> headroom;  // of the final setting; absent also if it was never measured unchanged
  double spent_s = 0;
  bool interrupted = false;
  std::string failed;       // the reason why the unchanged experiment has no speed; empty: it has
  std::string why_stopped;  // a sentence

  std::vector<Change> Kept() const;
  double Gained() const;  // the product of the ratios of all kept steps
};

// Measures until no change is left, or until the next measurement would exceed the budget of wall time. The callback receives
// each step when it is decided.
Tuning Tune(TuningRuns* runs, double budget_s, const std::function<void(const TuningStep&)>& told);

struct LearningCheck {
  struct Round {
    std::vector<Change> kept;
    LearningScores scores;
    Learned learned;
    std::optional<Gain> speed;  // SPS of the whole, both sides in turn; only in the first round

    static constexpr void Fields(auto& self, auto&& visit) {
      const auto values = ValuesOf(self.kept);
      const auto& difference = self.learned.difference;
      const auto told = [&](const char* name, double statistics::Difference::*number) {
        const auto known = difference ? std::optional((*difference).*number) : std::nullopt;
        visit(name, NullIfAbsent(known));
      };
      visit("values", values);
      visit("measure", self.scores.measure);
      visit("direction", self.scores.direction);
      visit("original", self.scores.original);
      visit("tuned", self.scores.tuned);
      told("difference", &statistics::Difference::value);
      told("low", &statistics::Difference::low);
      told("high", &statistics::Difference::high);
      visit("worse", self.learned.is_worse);
      visit("speed", NullIfAbsent(self.speed));
      visit("missing", self.scores.why_missing);
    }
  };
  std::vector<Round> rounds;  // one more after each reverted step
  bool interrupted = false;
  std::string why_none;  // a sentence: the reason for no check
};

// Checks if the kept steps together harm learning. While they do, reverts the last one that can be reverted.
LearningCheck CheckLearning(TuningRuns* runs, Tuning* tuning);

}  // namespace backplane
