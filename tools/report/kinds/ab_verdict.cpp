#include "kinds/ab_verdict.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <utility>

#include "kinds/goal_text.hpp"
#include "record/compare_terms.hpp"
#include "results/same_bits.hpp"
#include "statistics/blocks.hpp"
#include "statistics/contrast.hpp"
#include "statistics/looks.hpp"
#include "statistics/looks_interval.hpp"
#include "statistics/permutation.hpp"
#include "statistics/robust.hpp"
#include "statistics/sample.hpp"
#include "statistics/scores_needed.hpp"
#include "statistics/student.hpp"

namespace backplane {
namespace {

using Scores = std::vector<double>;

constexpr uint64_t kSeed = 20261124;    // of deals and draws: the same scores give the same verdict
constexpr double kSpreadsApart = 2;     // beyond it a permutation test finds too much, Welch's does not
constexpr size_t kLooksOfOneValue = 2;  // more looks at scores that are all one value would show nothing else

Scores Part(const Scores& scores, size_t from, size_t count) {
  const auto begin = scores.begin() + static_cast<std::ptrdiff_t>(from);
  return {begin, begin + static_cast<std::ptrdiff_t>(count)};
}

class PairJudge {
 public:
  // `p`: the pair's p-value, adjusted for all pairs, if there is only one look.
  PairJudge(const std::vector<ArmScores>& arms, const JudgeTerms& terms, size_t first, size_t second, size_t tests,
            std::optional<double> p)
      : baseline_(arms.front()),
        a_(arms[first]),
        b_(arms[second]),
        terms_(terms),
        alpha_(terms.alpha / static_cast<double>(tests)),
        adjusted_p_(p) {
    out_.first = first;
    out_.second = second;
    out_.tests = tests;
  }

  PairJudgement Judge() {
    if (terms_.speed) {
      JudgeSpeed();
    } else {
      JudgeScores();
    }
    if (out_.difference) out_.interval = statistics::IntervalAt(*out_.difference, ShareOfThisLook());
    if (out_.looks > 0) Conclude();
    return std::move(out_);
  }

 private:
  // Adds the available looks until the arms differ significantly.
  void JudgeScores() {
    const size_t n = terms_.scores, there = std::min({a_.values.size() / n, b_.values.size() / n, terms_.looks});
    if (there == 0) return;
    if (adjusted_p_) {
      out_.p = adjusted_p_;
      out_.told_apart = *adjusted_p_ <= terms_.alpha;
      out_.looks = 1;
      Describe(a_.values, b_.values);
      out_.confirmed = out_.told_apart && (terms_.goal       ? statistics::MeansAgree(AllOf(a_), AllOf(b_))
                                           : out_.difference ? out_.difference->p < 1 - statistics::kLevel
                                                             : true);
      return;
    }
    const statistics::GroupSequentialTest::Plan plan{.looks = terms_.looks, .alpha = alpha_, .seed = kSeed};
    const statistics::LooksTaken taken = terms_.goal ? statistics::TakeLooks(AllOf(a_), AllOf(b_), n, plan)
                                                     : statistics::TakeLooks(a_.values, b_.values, n, plan);
    out_.looks = taken.looks;
    out_.told_apart = taken.told_apart;
    out_.confirmed = taken.confirmed;
    Describe(Part(a_.values, 0, taken.n), Part(b_.values, 0, taken.n));
  }

  static statistics::Arrivals AllOf(const ArmScores& arm) { return FirstArrivals(arm, arm.values.size()); }

  double ShareOfThisLook() const {
    const double alpha = 1 - statistics::kLevel;
    return terms_.speed ? alpha / static_cast<double>(terms_.looks) : statistics::ShareOfALook(terms_.looks, alpha);
  }

  void JudgeSpeed() {
    const size_t n = terms_.scores;
    std::vector<statistics::Block> blocks, cpu;
    Scores a, b;
    for (size_t look = 1; look <= terms_.looks && !out_.told_apart && !out_.equivalent && !IsHopeless(); ++look) {
      if (2 * n * look > std::min(a_.values.size(), b_.values.size())) break;
      for (size_t block = (look - 1) * n; block < look * n; ++block) {
        if (IsSetAside(terms_, block)) {
          ++out_.set_aside;
          continue;
        }
        const size_t at = 2 * block;
        blocks.push_back({a_.values[at], b_.values[at], b_.values[at + 1], a_.values[at + 1]});
        if (std::min(a_.cpu_s.size(), b_.cpu_s.size()) > at + 1)
          cpu.push_back({a_.cpu_s[at], b_.cpu_s[at], b_.cpu_s[at + 1], a_.cpu_s[at + 1]});
        a.insert(a.end(), {a_.values[at], a_.values[at + 1]});
        b.insert(b.end(), {b_.values[at], b_.values[at + 1]});
      }
      out_.looks = look;
      out_.n = blocks.size();
      out_.difference = statistics::BlockDifference(blocks);
      if (!out_.difference) continue;
      out_.p = out_.difference->p;
      out_.told_apart = out_.confirmed = out_.difference->p <= alpha_ / static_cast<double>(terms_.looks);
      if (terms_.margin_pct) out_.equivalence = statistics::TwoOneSided(*out_.difference, std::log1p(*terms_.margin_pct / 100));
      out_.equivalent = out_.equivalence && out_.equivalence->p < alpha_ / static_cast<double>(terms_.looks);
    }
    if (cpu.size() == blocks.size()) out_.cpu = statistics::BlockDifference(cpu);
    if (!a.empty()) out_.probability = Better(statistics::ProbabilityGreater(b, a));
    if (out_.difference)
      out_.scores_needed = statistics::ScoresNeeded(*out_.difference, out_.n, alpha_ / static_cast<double>(terms_.looks));
  }

  // The machine is too busy to measure speeds.
  bool IsHopeless() const { return terms_.speed && out_.n == 0 && out_.looks >= CompareLooks::kMostOfNothing; }

  bool IsDecided() const {
    return out_.confirmed || out_.looks == terms_.looks || (terms_.speed && out_.equivalent) || IsHopeless() ||
           out_.answer == Answer::kIdentical || (out_.answer == Answer::kOneValue && out_.looks >= kLooksOfOneValue);
  }

  // Compares the first n runs. Absent: their bits are unknown.
  std::optional<bool> SameBits(size_t n) const {
    if (std::min(a_.runs.size(), b_.runs.size()) < n) return std::nullopt;
    const auto first = [n](const auto& runs) { return std::vector(runs.begin(), runs.begin() + static_cast<ptrdiff_t>(n)); };
    return HaveSameBits(first(a_.runs), first(b_.runs));
  }

  // Absent: a seed has different scores.
  std::optional<Answer> SameScores() const {
    if (terms_.speed) return std::nullopt;
    const size_t most = adjusted_p_ ? SIZE_MAX : out_.looks * terms_.scores;
    const Scores a = Part(a_.values, 0, std::min(most, a_.values.size())),
                 b = Part(b_.values, 0, std::min(most, b_.values.size()));
    if (!std::equal(a_.reached.begin(), a_.reached.begin() + static_cast<ptrdiff_t>(std::min(a.size(), a_.reached.size())),
                    b_.reached.begin(), b_.reached.begin() + static_cast<ptrdiff_t>(std::min(b.size(), b_.reached.size()))))
      return std::nullopt;
    const auto is_first = [&](double value) { return value == a.front(); };
    const std::optional<bool> same_bits = a == b ? SameBits(a.size()) : std::nullopt;
    const bool one_value = std::ranges::all_of(a, is_first) && std::ranges::all_of(b, is_first);
    if (same_bits.value_or(a == b && !one_value)) return Answer::kIdentical;
    return one_value ? std::optional(Answer::kOneValue) : std::nullopt;
  }

  double Better(double share) const { return terms_.direction > 0 ? share : 1 - share; }

  void Describe(const Scores& a, const Scores& b) {
    out_.n = std::min(a.size(), b.size());
    out_.difference = terms_.goal ? statistics::RestrictedDifference(FirstArrivals(b_, b.size()), FirstArrivals(a_, a.size()))
                                  : statistics::WelchDifference(b, a);
    out_.probability = Better(statistics::ProbabilityGreater(b, a));
    out_.iqm_first = statistics::InterquartileMean(a);
    out_.iqm_second = statistics::InterquartileMean(b);
    out_.iqm_difference = statistics::StratifiedBootstrap(
        {a, b},
        [](const statistics::Tasks& drawn) {
          return statistics::InterquartileMean(drawn[1]) - statistics::InterquartileMean(drawn[0]);
        },
        kSeed);
    const statistics::Sample of_a = statistics::Summarise(a), of_b = statistics::Summarise(b);
    if (out_.difference) {
      if (terms_.margin_pct) DescribeEquivalence(a, b);
      out_.scores_needed = statistics::ScoresNeeded(*out_.difference, out_.n, alpha_);
    }
    const double wide = std::max(of_a.variance, of_b.variance), narrow = std::min(of_a.variance, of_b.variance);
    if (out_.n < statistics::kLeastToBootstrap)
      out_.warnings.push_back("Below 10 seeds the interval of the IQM covers less than 95 %.");
    if (!terms_.goal && wide > kSpreadsApart * kSpreadsApart * narrow)
      out_.warnings.push_back(
          "One arm's scores spread more than twice as far as the other's. The permutation test then finds a difference in up "
          "to 7 % of all cases with equal means.");
  }

  // The looks spend their error on differences, so equivalence is tested only after the last one.
  void DescribeEquivalence(const Scores& a, const Scores& b) {
    const Scores of = Part(baseline_.values, 0, std::min(out_.n, baseline_.values.size()));
    out_.equivalence = statistics::EquivalenceWithinShare(a, b, &baseline_ == &a_ ? a : of, *terms_.margin_pct / 100);
    out_.equivalent = out_.equivalence && out_.equivalence->p < alpha_;
  }

  void Conclude() {
    if (const std::optional<Answer> same = SameScores()) out_.answer = *same;
    out_.decided = IsDecided();
    if (!terms_.speed && a_.below_floors && b_.below_floors) {
      out_.answer = Answer::kNotRanked;
      return;
    }
    if (out_.answer == Answer::kIdentical || out_.answer == Answer::kOneValue) return;
    if (terms_.speed && !out_.difference) {
      // Every block was set aside, or the speeds have no spread.
      out_.answer = Answer::kInvalid;
      return;
    }
    if (out_.confirmed)
      out_.answer = Lead() * terms_.direction > 0 ? Answer::kSecond : Answer::kFirst;
    else if (out_.equivalent && !out_.told_apart && (terms_.speed || out_.looks == terms_.looks))
      out_.answer = Answer::kEquivalent;
  }

  // Second less first.
  double Lead() const {
    if (out_.difference) return out_.difference->value;
    if (terms_.goal) return statistics::IsSlower(AllOf(b_), AllOf(a_)) ? 1 : -1;
    return b_.values.front() - a_.values.front();
  }

  const ArmScores &baseline_, &a_, &b_;  // the margin is a share of the baseline's mean
  const JudgeTerms& terms_;
  const double alpha_;
  const std::optional<double> adjusted_p_;
  PairJudgement out_;
};

// The best first. Empty unless every pair of neighbours differs significantly.
std::vector<size_t> RankingOf(size_t arms, const std::vector<PairJudgement>& pairs) {
  std::vector<size_t> wins(arms, 0), order(arms);
  for (const PairJudgement& pair : pairs) {
    if (pair.answer != Answer::kFirst && pair.answer != Answer::kSecond) return {};
    ++wins[pair.answer == Answer::kFirst ? pair.first : pair.second];
  }
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::ranges::greater{}, [&](size_t arm) { return wins[arm]; });
  return order;
}

const std::string& WhyMissing(const ArmScores& first, const ArmScores& second) {
  return first.why_missing.empty() ? second.why_missing : first.why_missing;
}

PairJudgement NotJudged(size_t first, size_t second, const std::string& why_missing) {
  PairJudgement pair;
  pair.first = first;
  pair.second = second;
  pair.answer = Answer::kInvalid;
  pair.decided = true;
  pair.why_missing = why_missing;
  return pair;
}

double OneLookP(const ArmScores& a, const ArmScores& b) {
  if (a.reached.empty()) return statistics::UnpairedPermutation(a.values, b.values, kSeed).p;
  return statistics::LogRankPermutation(FirstArrivals(a, a.values.size()), FirstArrivals(b, b.values.size()), kSeed).p;
}

// Holm-adjusted p-values per task and pair. Empty if there are several looks, speeds, or an arm without scores.
std::vector<double> AdjustedP(const std::vector<std::vector<ArmScores>>& tasks, const std::vector<JudgeTerms>& terms) {
  std::vector<double> p;
  for (size_t task = 0; task < tasks.size(); ++task) {
    const std::vector<ArmScores>& arms = tasks[task];
    if (terms[task].looks != 1 || terms[task].speed) return {};
    if (std::ranges::any_of(arms, [](const ArmScores& arm) { return arm.values.empty() && arm.why_missing.empty(); }))
      return {};
    for (size_t first = 0; first < arms.size(); ++first) {
      // A pair without a verdict still counts. A missing run must not make the other differences significant.
      for (size_t second = first + 1; second < arms.size(); ++second)
        p.push_back(WhyMissing(arms[first], arms[second]).empty() ? OneLookP(arms[first], arms[second]) : 1);
    }
  }
  return statistics::HolmAdjusted(p);
}

size_t PairsOf(size_t arms) { return arms < 2 ? 0 : arms * (arms - 1) / 2; }

}  // namespace

std::optional<size_t> WinnerOf(std::span<const ArmsJudgement> tasks, size_t arms) {
  // better[i][j]: arm i is shown to be better than arm j on some task.
  std::vector<std::vector<char>> better(arms, std::vector<char>(arms, 0));
  for (const ArmsJudgement& task : tasks) {
    for (const PairJudgement& pair : task.pairs) {
      if (pair.answer == Answer::kFirst) better[pair.first][pair.second] = 1;
      if (pair.answer == Answer::kSecond) better[pair.second][pair.first] = 1;
    }
  }
  for (size_t i = 0; i < arms; ++i) {
    bool wins = true;
    for (size_t j = 0; j < arms; ++j) wins = wins && (i == j || (better[i][j] != 0 && better[j][i] == 0));
    if (wins) return i;
  }
  return std::nullopt;
}

statistics::Arrivals FirstArrivals(const ArmScores& arm, size_t n) {
  statistics::Arrivals all = ArrivalsOf(arm.values, arm.reached);
  all.resize(std::min(n, all.size()));
  return all;
}

std::vector<double> JudgedValues(const std::vector<double>& values, const JudgeTerms& terms, size_t looks) {
  const size_t in_looks = std::min(values.size(), (terms.speed ? 2 : 1) * looks * terms.scores);
  std::vector<double> judged;
  for (size_t i = 0; i < in_looks; ++i)
    if (!terms.speed || !IsSetAside(terms, i / 2)) judged.push_back(values[i]);
  return judged;
}

ArmsJudgement Judge(const std::vector<ArmScores>& arms, const JudgeTerms& terms) { return JudgeTasks({arms}, {terms}).front(); }

std::vector<ArmsJudgement> JudgeTasks(const std::vector<std::vector<ArmScores>>& tasks, const std::vector<JudgeTerms>& terms) {
  const std::vector<double> p = AdjustedP(tasks, terms);
  size_t tests = 0, test = 0;
  for (const std::vector<ArmScores>& arms : tasks) tests += PairsOf(arms.size());
  std::vector<ArmsJudgement> judged;
  for (size_t task = 0; task < tasks.size(); ++task) {
    const std::vector<ArmScores>& arms = tasks[task];
    ArmsJudgement out;
    for (size_t first = 0; first < arms.size(); ++first) {
      for (size_t second = first + 1; second < arms.size(); ++second, ++test) {
        const std::string& why = WhyMissing(arms[first], arms[second]);
        out.pairs.push_back(
            why.empty()
                ? PairJudge(arms, terms[task], first, second, tests, p.empty() ? std::nullopt : std::optional(p[test])).Judge()
                : NotJudged(first, second, why));
      }
    }
    out.decided = !out.pairs.empty() && std::ranges::all_of(out.pairs, &PairJudgement::decided);
    for (const PairJudgement& pair : out.pairs) out.looks = std::max(out.looks, pair.looks);
    out.ranking = RankingOf(arms.size(), out.pairs);
    judged.push_back(std::move(out));
  }
  return judged;
}

}  // namespace backplane
