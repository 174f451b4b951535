// Finds the better of several arms and tests if the evidence is enough: the rules, over plain scores.
//
// Scores of learning: looks in the order of the seeds, by the group-sequential permutation test; a single look by the exact
// test. If it shows a difference, Welch's test of all scores so far has to agree. Looks continue until it does; at the last
// one, both tests are shown without a verdict. Scores of speed: blocks A B B A, by Student's test on their logarithms, at alpha
// / looks. Steps to a goal (steps_to): as scores of learning, by the log-rank test and without Welch's.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "record/goal.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/difference.hpp"
#include "statistics/equivalence.hpp"
#include "statistics/log_rank.hpp"

namespace backplane {

struct ArmScores {
  std::string name;
  std::vector<double> values;                    // in the order in which they were measured; of speeds two for each block
  size_t diverged = 0;                           // of them, which count as the worst score seen
  bool below_floors = false;                     // not shown to be better than zero or uniform actions
  std::vector<double> cpu_s;                     // of speeds, one per value; other programs disturb it less than wall time
  std::string why_missing = {};                  // a sentence; the arm then has no verdict; empty: all its runs have a score
  std::vector<std::filesystem::path> runs = {};  // folders of the trials of `values`; empty: not known
  std::vector<char> reached = {};                // of steps to a goal: whether each trial reached it; else empty
};

struct JudgeTerms {
  int direction = 1;  // of the scores: 1 up is better, -1 down
  bool speed = false;
  std::optional<double> margin_pct;
  size_t scores = 5, looks = 5;  // in a look (blocks of a speed), and looks at most
  double alpha = 0.05;
  std::optional<Goal> goal = {};  // the scores are steps to it
  std::vector<char> disturbed;    // of speeds: blocks that are set aside; shorter: none of the rest is
};

// True if a block of speeds was disturbed and is discarded.
inline bool IsSetAside(const JudgeTerms& terms, size_t block) {
  return block < terms.disturbed.size() && terms.disturbed[block] != 0;
}

// The first `n` trials of an arm, whose scores are steps to a goal.
statistics::Arrivals FirstArrivals(const ArmScores& arm, size_t n);

// An arm's values in the first `looks` looks, without discarded blocks of speeds.
std::vector<double> JudgedValues(const std::vector<double>& values, const JudgeTerms& terms, size_t looks);

// kIdentical: each seed has the same fingerprints on both sides; without fingerprints, the same score, and the scores differ.
// kOneValue: all scores of both are one value.
enum class Answer { kFirst = 1, kSecond, kEquivalent, kInconclusive, kNotRanked, kInvalid, kIdentical, kOneValue };

// Two arms. Differences are in the measure's own direction: above 0 the second one has more.
struct PairJudgement {
  size_t first = 0, second = 1;  // of the arms
  Answer answer = Answer::kInconclusive;
  std::string why_missing = {};                        // of an arm whose runs have no scores; such a pair is not judged
  bool decided = false;                                // no further look is needed, or none is left
  bool told_apart = false;                             // by the test that decides
  bool confirmed = false;                              // the test that decides shows a difference, and Welch's agrees
  size_t looks = 0;                                    // that were taken
  size_t n = 0;                                        // scores of each arm in them; blocks
  size_t set_aside = 0;                                // blocks
  std::optional<double> p;                             // of the test, where there is one number
  std::optional<statistics::Difference> difference;    // Welch's of all these scores; of speeds of the logarithms' blocks
  std::optional<statistics::Difference> cpu;           // of speeds: of the CPU time of the same blocks, in logarithms
  std::optional<statistics::Interval> interval;        // 95 % of `difference`, which allows for all looks of the comparison
  std::optional<statistics::Equivalence> equivalence;  // only with a margin, which is a share of the first arm's mean
  bool equivalent = false;                             // shown, at this pair's share of alpha
  size_t tests = 1;                                    // pairs on all tasks, which share alpha
  double probability = 0.5;                            // that a score of the better direction's is the second arm's
  std::optional<double> iqm_first, iqm_second;
  std::optional<statistics::Interval> iqm_difference;
  std::optional<size_t> scores_needed;  // of each arm, for 80 % power at the effect seen; absent: none was seen
  std::vector<std::string> warnings;
};

struct ArmsJudgement {
  std::vector<PairJudgement> pairs;  // first with second, first with third, ...
  bool decided = false;              // all of them are
  size_t looks = 0;                  // most of any
  std::vector<size_t> ranking;       // arms, the best first: where every pair has an answer that orders it; empty: none
};

// The arm that is shown to be better than every other arm on one or more tasks, and worse on none. Absent: there is none.
std::optional<size_t> WinnerOf(std::span<const ArmsJudgement> tasks, size_t arms);

// Arms that have no score, or fewer than a look, are not judged yet: looks is 0.
ArmsJudgement Judge(const std::vector<ArmScores>& arms, const JudgeTerms& terms);

// The same arms on several tasks, which differ in their terms' `scores` at most. All pairs on all tasks share alpha: each has
// its part of it, or in one look Holm's.
std::vector<ArmsJudgement> JudgeTasks(const std::vector<std::vector<ArmScores>>& tasks, const std::vector<JudgeTerms>& terms);

}  // namespace backplane
