#include "study/tuning.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace backplane {
namespace {

class Tuner {
 public:
  Tuner(TuningRuns* runs, double budget_s, const std::function<void(const TuningStep&)>& told)
      : runs_(runs), budget_s_(budget_s), told_(told) {}

  Tuning Run() {
    if (MeasureAsItIs()) {
      while (TryNext()) {
      }
    }
    return std::move(tuning_);
  }

 private:
  bool MeasureAsItIs() {
    const std::optional<Measurement> measured = runs_->Measure(0, {}, nullptr);
    if (!measured) return Interrupted();
    tuning_.spent_s += measured->seconds;
    if (measured->now.speeds.empty()) {
      tuning_.failed = measured->now.why_missing;
      return false;
    }
    expected_s_ = measured->next_s;
    tuning_.speed = statistics::GeometricMean(measured->now.speeds);
    tuning_.headroom = measured->now.headroom;
    speeds_.push_back({measured->now.speeds, {}});
    proposals_ = measured->now.proposals;
    return true;
  }

  bool TryNext() {
    const std::optional<Change> next = Next();
    if (!next) {
      tuning_.why_stopped =
          tried_.empty() ? "No finding proposes a change." : "All changes that findings propose were measured.";
      return false;
    }
    if (tuning_.spent_s + expected_s_ > budget_s_) {
      tuning_.why_stopped =
          fmt::format("The next measurement needs about {:.0f} s, but {:.0f} s of the budget of {:.0f} s are used.",
                      expected_s_, tuning_.spent_s, budget_s_);
      return false;
    }
    const std::optional<Measurement> measured = runs_->Measure(tuning_.steps.size() + 1, tuning_.Kept(), &*next);
    if (!measured) return Interrupted();
    tuning_.spent_s += measured->seconds;
    expected_s_ = measured->next_s;
    Decide(*next, *measured);
    return true;
  }

  bool Interrupted() {
    tuning_.interrupted = true;
    return false;
  }

  std::optional<Change> Next() const {
    for (const std::vector<Change>* source : {&further_, &proposals_}) {
      for (const Change& change : *source) {
        if (std::none_of(tried_.begin(), tried_.end(), [&](const Change& one) { return IsSame(one, change); })) return change;
      }
    }
    return std::nullopt;
  }

  void Decide(const Change& change, const Measurement& measured) {
    TuningStep step;
    step.change = change;
    step.headroom_before = measured.now.headroom;
    step.seconds = measured.seconds;
    step.busy = measured.busy;
    further_.clear();
    tried_.push_back(change);
    if (!measured.now.speeds.empty()) step.before = statistics::GeometricMean(measured.now.speeds);
    if (!measured.tried.speeds.empty()) step.after = statistics::GeometricMean(measured.tried.speeds);
    if (!measured.tried.why_missing.empty()) {
      step.why = measured.tried.why_missing;
    } else if (!step.before || !step.after) {
      step.why = measured.now.why_missing;
    } else {
      speeds_.push_back({measured.now.speeds, measured.tried.speeds});
      step.gain = LastGain(speeds_, measured.direction);
      step.kept = step.gain->IsShown();
      step.why = !step.gain->interval       ? "too few trials to separate from noise"
                 : step.kept                ? "faster beyond noise"
                 : step.gain->IsShownLost() ? "slower"
                                            : "no gain beyond noise";
    }
    if (const MeasuredSide& stays = step.kept ? measured.tried : measured.now; stays.headroom)
      tuning_.headroom = stays.headroom;
    if (step.kept) {
      // Undoing a change is no progress.
      Change back = change;
      std::swap(back.fix.from, back.fix.to);
      tried_.push_back(std::move(back));
      proposals_ = measured.tried.proposals;
    } else {
      if (!measured.now.proposals.empty()) proposals_ = measured.now.proposals;
      if (step.gain && IsPromising(*step.gain)) GoFurther(change, measured.tried.proposals);
    }
    told_(step);
    tuning_.steps.push_back(std::move(step));
  }

  // Twice this gain would be significant.
  static bool IsPromising(const Gain& gain) { return gain.ratio > 1 && gain.interval && gain.ratio * gain.interval->low > 1; }

  // The same setting with a further value: the step's gain may be too small to show.
  void GoFurther(const Change& change, const std::vector<Change>& proposals) {
    for (Change next : proposals) {
      if (next.fix.path != change.fix.path) continue;
      next.fix.from = change.fix.from;
      further_.push_back(std::move(next));
    }
  }

  TuningRuns* const runs_;
  const double budget_s_;
  const std::function<void(const TuningStep&)>& told_;
  Tuning tuning_;
  std::vector<Speeds> speeds_;  // of all measurements
  std::vector<Change> proposals_, further_, tried_;
  double expected_s_ = 0;
};

bool IsToBeChecked(const TuningStep& step) { return step.kept && CanChangeLearning(step.change); }

}  // namespace

std::vector<Change> Tuning::Kept() const {
  std::vector<Change> kept;
  for (const TuningStep& step : steps) {
    if (step.kept) kept.push_back(step.change);
  }
  return kept;
}

double Tuning::Gained() const {
  double product = 1;
  for (const TuningStep& step : steps) product *= step.kept && step.gain ? step.gain->ratio : 1;
  return product;
}

Tuning Tune(TuningRuns* runs, double budget_s, const std::function<void(const TuningStep&)>& told) {
  return Tuner(runs, budget_s, told).Run();
}

LearningCheck CheckLearning(TuningRuns* runs, Tuning* tuning) {
  LearningCheck check;
  while (std::any_of(tuning->steps.begin(), tuning->steps.end(), IsToBeChecked)) {
    LearningCheck::Round round{tuning->Kept(), {}, {}, {}};
    std::optional<LearningScores> scores = runs->Learn(round.kept);
    if (!scores) {
      check.interrupted = true;
      return check;
    }
    round.scores = *std::move(scores);
    round.learned = CompareLearning(round.scores.original, round.scores.tuned, round.scores.direction);
    // Later rounds use the original of the first round, which was measured at a different time.
    if (check.rounds.empty() && !round.scores.speeds_original.empty() && !round.scores.speeds_tuned.empty())
      round.speed = LastGain({{round.scores.speeds_original, round.scores.speeds_tuned}}, 1);
    // A trial without a result counts as untrained.
    round.learned.is_worse |= round.scores.tuned.size() < round.scores.original.size();
    const bool is_worse = round.learned.is_worse;
    check.rounds.push_back(std::move(round));
    if (!is_worse) return check;
    const auto last = std::find_if(tuning->steps.rbegin(), tuning->steps.rend(), IsToBeChecked);
    const bool is_last_kept = std::none_of(tuning->steps.rbegin(), last, [](const TuningStep& step) { return step.kept; });
    tuning->headroom = is_last_kept ? last->headroom_before : std::nullopt;
    last->kept = false;
    last->taken_back = true;
    last->why = "faster, but taken back because learning got worse";
  }
  if (check.rounds.empty())
    check.why_none = tuning->Kept().empty() ? "No change was kept, so learning needs no check."
                                            : "No kept change can affect learning, so learning needs no check.";
  return check;
}

}  // namespace backplane
