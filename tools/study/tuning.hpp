// Tuning: measures one change after another against the setting that it would change, and keeps it if it is faster beyond
// noise. The next change comes from the new setting's findings. This module only decides; TuningRuns runs the trials.
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
  std::vector<double> speeds;      // one for each trial that has one
  std::vector<Change> proposals;   // what its findings propose, the best first
  std::optional<double> headroom;  // how many times as fast it would be without any update; absent: not known
  std::string why_missing;         // a few words if a trial has no speed: "1 of 4 trials FAILED (oom): ..."
};

struct Measurement {
  MeasuredSide now;
  MeasuredSide tried;  // of the setting as it is: empty
  double seconds = 0;  // that it took, all sessions together
  double next_s = 0;   // that the next one, of two sides, is expected to take
  bool busy = false;   // other programs wanted the cores
  int direction = 1;   // of the speed: 1 up is better, -1 down
};

// The scores of a check of learning, one for each seed; a side may have fewer.
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
  // Measures the setting with the changes `kept`, and the same with `tried` added; NULL: only the first. Step 0 is the first
  // one. The same arguments give the same result. Absent: interrupted.
  virtual std::optional<Measurement> Measure(size_t step, const std::vector<Change>& kept, const Change* tried) = 0;
  // The experiment as it was and with `kept`, for equal env steps and several seeds. Absent: interrupted.
  virtual std::optional<LearningScores> Learn(const std::vector<Change>& kept) = 0;
};

struct TuningStep {
  Change change;
  std::optional<double> before, after;  // speeds, geometric means; absent: a side has none
  std::optional<Gain> gain;             // absent likewise
  std::optional<double> headroom_before;
  bool kept = false;
  bool taken_back = false;  // was kept, until the check of learning
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
  std::optional<double> speed;     // of the experiment as it is, as first measured
  std::optional<double> headroom;  // of the setting that stays; absent also where that was never measured as it is
  double spent_s = 0;
  bool interrupted = false;
  std::string failed;       // a sentence: the experiment as it is has no speed; empty: it has
  std::string why_stopped;  // a sentence

  std::vector<Change> Kept() const;
  double Gained() const;  // the product of the ratios of all steps that are kept
};

// Measures until no change is left, or until the next measurement would exceed the budget, which is the wall time of all of
// them. The callback receives each step when it is decided.
Tuning Tune(TuningRuns* runs, double budget_s, const std::function<void(const TuningStep&)>& told);

struct LearningCheck {
  struct Round {
    std::vector<Change> kept;
    LearningScores scores;
    Learned learned;
    std::optional<Gain> speed;  // SPS of the whole, both sides measured in turn: of the first round only

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
  std::vector<Round> rounds;  // a further one after a step was taken back
  bool interrupted = false;
  std::string why_none;  // a sentence: there was nothing to check
};

// Checks if the kept steps together cost learning. While they do, the last one that can is taken back.
LearningCheck CheckLearning(TuningRuns* runs, Tuning* tuning);

}  // namespace backplane
