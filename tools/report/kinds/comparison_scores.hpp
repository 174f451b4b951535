// The scores of a point by its seeds, verdicts on two points, and the points that may be selected.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "kinds/comparison_points.hpp"
#include "kinds/comparison_spec.hpp"
#include "kinds/goal_text.hpp"
#include "statistics/log_rank.hpp"

namespace backplane {

struct SeedScores {
  std::vector<uint64_t> seeds;
  std::vector<double> values;  // of each seed
  size_t diverged = 0;         // how many of them count as the worst score seen in any point, as their own is not finite
  bool incomplete = false;     // a trial was not run, or ended for a reason that is not its own: it is to be run again
  size_t missing = 0;          // trials without a score, including these; the point then has no verdict
  bool below_floors = false;   // its mean is not shown to be better than what zero or uniform actions earn
  std::vector<std::filesystem::path> runs = {};  // folders of the trials of `seeds`
  std::vector<char> reached = {};  // of steps_to: whether each reached the goal; empty: the values are of another measure

  // False if every run diverged, so that its mean is the worst score of other runs.
  bool HasOwn() const { return diverged == 0 || diverged < values.size(); }
  statistics::Arrivals arrivals() const { return ArrivalsOf(values, reached); }
  // This point less `base`, by Welch's test, or by the restricted means of steps_to.
  std::optional<statistics::Difference> DifferenceFrom(const SeedScores& base) const;
};

// The verdict on a point next to its baseline.
enum class PointVerdict {
  kIncomplete = 1,  // a run failed, is missing, or has no score
  kNotFinite,
  kEndsAtGoal,  // the trials end when they are good, so that this measure's values are biased
  kOneSeed,
  kTooFewSeeds,
  kBelowFloors,  // the point is not shown to be better than doing nothing
  kIdentical,    // each seed has the same fingerprints on both sides, or the same score, and the scores differ
  kOneValue,     // all scores of both points are one value
  kNotShown,
  kBetter,
  kWorse,
  kMore,  // of a measure without a direction
  kLess,
};

struct JudgedPoint {
  PointVerdict verdict = PointVerdict::kIncomplete;
  std::string detail;  // "1 of 5 runs diverged", "p = 0.02 but 0.18 after correction for 9 comparisons"

  std::string Text() const;  // "worse, 1 of 5 runs diverged"
};

class Scoring {
 public:
  // Both outlive the object.
  Scoring(const Combined& combined, const std::vector<ComparedPoint>& points) : combined_(combined), points_(points) {}

  SeedScores Scores(size_t point, const MeasureSpec& measure) const;

  // The value for tables: the mean over the seeds. A single seed shows its own spread, which covers only this policy. Absent if
  // no trial has a value.
  std::optional<Number> Value(size_t point, const MeasureSpec& measure) const;

  // One entry per point, with a verdict on each other point of the baseline's group; empty text for all others. The tests by
  // this measure are corrected for their number (Holm).
  std::vector<JudgedPoint> VerdictsAgainst(size_t baseline, const MeasureSpec& measure) const;

  // The reason against a selection by this measure: "1 of 3 runs diverged". Empty: all runs have a finite score.
  std::string Ineligible(size_t point, const MeasureSpec& measure) const { return WithoutScore({point}, measure); }

  // The same for the runs of several points together.
  std::string WithoutScore(const std::vector<size_t>& points, const MeasureSpec& measure) const;

  // True if a run of the point reported the measure, but never a finite value.
  bool IsNeverFinite(size_t point, const MeasureSpec& measure) const;

  // Why a point's row is less than it seems: "1 of 5 seeds diverged: it counts as the worst score seen"; empty: it is not.
  std::string Remark(size_t point, const std::vector<MeasureSpec>& measures) const;

 private:
  bool IsOfLearning(const MeasureSpec& measure) const;
  std::string NotFiniteRemark(size_t point, const std::vector<MeasureSpec>& measures) const;
  std::vector<double> Finite(size_t point, const MeasureSpec& measure) const;
  std::optional<double> Worst(size_t group, const MeasureSpec& measure) const;
  bool IsBelowFloors(size_t point, const MeasureSpec& measure, const std::vector<double>& values) const;

  const Combined& combined_;
  const std::vector<ComparedPoint>& points_;
};

}  // namespace backplane
