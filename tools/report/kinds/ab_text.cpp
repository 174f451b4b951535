#include "kinds/ab_text.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <initializer_list>

#include "kinds/goal_text.hpp"
#include "statistics/scores_needed.hpp"
#include "statistics/student.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

std::string Short(double value) { return FormatNumber(Reading(value), 4); }

std::string Interval(double low, double high) { return fmt::format("{} to {}", Short(low), Short(high)); }

std::string Percent(double share) { return fmt::format("{:g} %", std::round(share * 1000) / 10); }

// The scores of an arm that the pair was judged by. One look takes all scores, also if one arm has more.
std::vector<double> JudgedScores(const AbScores& scores, const PairJudgement& pair, size_t arm) {
  const std::vector<double>& all = scores.arms[arm].values;
  if (scores.terms.speed) return JudgedValues(all, scores.terms, pair.looks);
  const size_t count = scores.terms.looks == 1 ? all.size() : std::min(all.size(), pair.n);
  return {all.begin(), all.begin() + static_cast<std::ptrdiff_t>(count)};
}

// Arrivals of both arms; empty: the scores are no steps to a goal.
std::vector<statistics::Arrivals> JudgedArrivals(const AbScores& scores, const PairJudgement& pair) {
  std::vector<statistics::Arrivals> arms;
  for (const size_t arm : {pair.first, pair.second})
    if (scores.terms.goal) arms.push_back(FirstArrivals(scores.arms[arm], JudgedScores(scores, pair, arm).size()));
  return arms;
}

std::string MeanOf(const AbScores& scores, const PairJudgement& pair, size_t arm) {
  const std::vector<double> judged = JudgedScores(scores, pair, arm);
  if (judged.empty()) return "unknown";
  const std::string unit = scores.metric.unit.empty() ? "" : " " + scores.metric.unit;
  const std::vector<statistics::Arrivals> arrivals = JudgedArrivals(scores, pair);
  const Number mean = scores.terms.goal ? MeanSteps(FirstArrivals(scores.arms[arm], judged.size()), CommonHorizon(arrivals))
                                        : Mean(judged, "seeds");
  return FormatNumber(mean, scores.metric.digits) + unit;
}

std::string Means(const AbScores& scores, const PairJudgement& pair) {
  return fmt::format("{} (± 95 %; {})", MeansText(scores, pair), Counted(scores, pair));
}

// For speeds: "; CPU time 1.01 times (0.99 to 1.03)".
std::string CpuText(const PairJudgement& pair) {
  if (!pair.cpu) return "";
  return fmt::format("; CPU time {:.3g} times (95 % interval {:.3g} to {:.3g})", std::exp(pair.cpu->value),
                     std::exp(pair.cpu->low), std::exp(pair.cpu->high));
}

std::string Values(const AbScores& scores, const PairJudgement& pair) {
  const std::string difference = DifferenceText(scores, pair);
  return Means(scores, pair) + (difference.empty() ? "" : ", " + difference) + CpuText(pair);
}

std::string Lead(const AbScores& scores, const PairJudgement& pair) {
  if (!pair.difference)
    return fmt::format("{} on every seed: neither arm has a spread, and the exact test decides",
                       Short(std::abs(scores.arms[pair.second].values.front() - scores.arms[pair.first].values.front())));
  double value = pair.difference->value;
  statistics::Interval interval = *pair.interval;
  if (value < 0) {
    value = -value;
    interval = {-interval.high, -interval.low};
  }
  if (!scores.terms.speed) return fmt::format("{} (95 % interval {})", Short(value), Interval(interval.low, interval.high));
  return fmt::format("a factor of {:.3g} (95 % interval {:.3g} to {:.3g})", std::exp(value), std::exp(interval.low),
                     std::exp(interval.high));
}

std::string MarginText(const AbScores& scores, const PairJudgement& pair) {
  return fmt::format("{:g} % of {}", *scores.terms.margin_pct, scores.arms[scores.terms.speed ? pair.first : 0].name);
}

std::string SharedText(const AbScores& scores, const PairJudgement& pair) {
  if (pair.tests == 1) return "";
  return fmt::format("; all {} pairs together may err in {}", pair.tests, Percent(scores.terms.alpha));
}

// Why the verdict and the interval or the other test next to it seem to disagree. Empty: they do not.
std::string WhyTheyDiffer(const AbScores& scores, const PairJudgement& pair) {
  if (!pair.interval) return "";  // no arm has a spread
  const size_t looks = scores.terms.looks;
  const bool of_goal = scores.terms.goal.has_value();
  const char* decides = scores.terms.speed ? "the test of the blocks" : of_goal ? "the log-rank test" : "the permutation test";
  const bool holds_0 = pair.interval->low <= 0 && pair.interval->high >= 0;
  const bool has_winner = pair.answer == Answer::kFirst || pair.answer == Answer::kSecond;
  if (has_winner && holds_0)
    return fmt::format(" The interval allows for all {} looks and includes 0; {}, which decides, shows the difference.", looks,
                       decides);
  if (has_winner || pair.answer != Answer::kInconclusive) return "";
  if (pair.told_apart && of_goal)
    return " The log-rank test shows a difference, but the means point the other way: the arm that is ahead at first falls "
           "behind.";
  if (pair.told_apart)
    return fmt::format(
        " The permutation test shows a difference, but Welch's test does not (p = {:.2g}). A few extreme scores or unequal "
        "spreads can cause this; a verdict needs both.",
        pair.difference->p);
  const std::string p = pair.p && !scores.terms.speed ? fmt::format(" (p = {:.2g})", *pair.p) : "";
  if (!holds_0)
    return fmt::format(" The interval of these two arms excludes 0, but {}, which decides, shows no difference{}{}.", decides,
                       p, SharedText(scores, pair));
  if (pair.difference->p >= 1 - statistics::kLevel || scores.terms.speed || of_goal) return "";
  return fmt::format(
      " Welch's test of a single look would show a difference (p = {:.2g}), but {}, which decides, does not, because it allows "
      "for {} looks{}.",
      pair.difference->p, decides, looks, SharedText(scores, pair));
}

std::string BetterText(const AbScores& scores, const PairJudgement& pair) {
  const ArmScores &first = scores.arms[pair.first], &second = scores.arms[pair.second];
  const bool is_first = pair.answer == Answer::kFirst;
  const ArmScores &better = is_first ? first : second, &other = is_first ? second : first;
  const size_t first_named = is_first ? pair.first : pair.second, then = is_first ? pair.second : pair.first;
  std::string text = scores.terms.goal
                         ? fmt::format("{} reaches {} sooner than {}: {} against {} (± 95 %; {}). The difference is {}.",
                                       better.name, scores.terms.goal->Words(), other.name, MeanOf(scores, pair, first_named),
                                       MeanOf(scores, pair, then), Counted(scores, pair), Lead(scores, pair))
                         : fmt::format("{} is better than {}: {}. {}.", better.name, other.name, LeadText(scores, pair),
                                       Means(scores, pair) + CpuText(pair));
  text += WhyTheyDiffer(scores, pair);
  if (pair.equivalent) text += fmt::format(" That is less than the margin, {}.", MarginText(scores, pair));
  if (other.below_floors) text += fmt::format(" {} is not shown to beat both doing nothing and acting at random.", other.name);
  return text;
}

std::string Verdict(const AbScores& scores, const PairJudgement& pair) {
  const ArmScores &first = scores.arms[pair.first], &second = scores.arms[pair.second];
  const std::string values = Values(scores, pair);
  switch (pair.answer) {
    case Answer::kFirst:
    case Answer::kSecond: return BetterText(scores, pair);
    case Answer::kEquivalent:
      return fmt::format("{} and {} are equivalent: they differ by less than {}. {}.", first.name, second.name,
                         MarginText(scores, pair), values);
    case Answer::kNotRanked:
      return fmt::format("Not ranked: neither {} nor {} is shown to beat both doing nothing and acting at random. {}.",
                         first.name, second.name, values);
    case Answer::kInvalid:
      return pair.n == 0 ? fmt::format("Invalid: other programs disturbed every block of {} and {}; use a quiet machine.",
                                       first.name, second.name)
                         : fmt::format("Invalid: the speeds of {} and {} have no spread. {}.", first.name, second.name, values);
    case Answer::kIdentical:
      return fmt::format("{} and {} are identical, to the last bit: each of {} seeds has the same {} on both sides. {}.",
                         first.name, second.name, pair.n, scores.metric.title, values);
    case Answer::kOneValue:
      if (!first.reached.empty() && first.reached.front() == 0)
        return fmt::format("Neither {} nor {} reached {} within {} env steps on any of {} seeds, so they cannot be compared.",
                           first.name, second.name, scores.terms.goal->Words(), Short(first.values.front()), pair.n);
      return fmt::format("{}: {} and {} are both {} on each of {} seeds: this metric cannot separate them.",
                         scores.metric.title, first.name, second.name, Short(first.values.front()), pair.n);
    case Answer::kInconclusive: break;
  }
  std::string text = fmt::format("Inconclusive: {} and {} are not shown to differ. {}.", first.name, second.name, values);
  text += WhyTheyDiffer(scores, pair);
  if (pair.scores_needed)
    text += fmt::format(" With about {} {}, {} of comparisons would show an effect of the size seen.", *pair.scores_needed,
                        scores.terms.speed ? "blocks in total" : "seeds per arm", Percent(statistics::kPower));
  return text;
}

// Summarises all pairs: "a is better than c; a and b, b and c are not shown to differ".
std::string PairsText(const AbScores& scores, const ArmsJudgement& judgement) {
  std::string text;
  for (const auto& [answers, words] : {std::pair<std::vector<Answer>, const char*>{{Answer::kFirst, Answer::kSecond}, ""},
                                       {{Answer::kEquivalent}, " are equivalent"},
                                       {{Answer::kInconclusive}, " are not shown to differ"},
                                       {{Answer::kNotRanked}, " are not ranked"},
                                       {{Answer::kIdentical}, " are identical, to the last bit"},
                                       {{Answer::kOneValue}, " have one value on every seed"},
                                       {{Answer::kInvalid}, " cannot be compared"}}) {
    std::vector<std::string> pairs;
    for (const PairJudgement& pair : judgement.pairs) {
      const std::string &first = scores.arms[pair.first].name, &second = scores.arms[pair.second].name;
      if (std::ranges::find(answers, pair.answer) == answers.end()) continue;
      pairs.push_back(pair.answer == Answer::kFirst    ? first + " is better than " + second
                      : pair.answer == Answer::kSecond ? second + " is better than " + first
                                                       : first + " and " + second);
    }
    if (!pairs.empty()) text += fmt::format("{}{}{}", text.empty() ? "" : "; ", fmt::join(pairs, ", "), words);
  }
  return text;
}

std::string RankingText(const AbScores& scores, const ArmsJudgement& judgement) {
  if (scores.arms.size() < 3) return "";
  if (judgement.ranking.empty()) {
    const std::optional<size_t> best = WinnerOf({&judgement, 1}, scores.arms.size());
    return (best ? scores.arms[*best].name + " is better than every other arm: " : "No arm is better than all others: ") +
           PairsText(scores, judgement) + ".";
  }
  std::string names;
  for (const size_t arm : judgement.ranking) names += (names.empty() ? "" : " > ") + scores.arms[arm].name;
  return "Ranking: " + names + ".";
}

Number Cell95(double value, double low, double high, size_t n, const char* of) {
  Number number = Reading(value);
  number.low = low;
  number.high = high;
  number.n = n;
  number.of = of;
  return number;
}

Cell MaybeReading(const std::optional<double>& value) { return value ? Cell{Reading(*value)} : Cell{}; }

std::vector<Cell> EvidenceRow(const AbScores& scores, const PairJudgement& pair, const std::string& task) {
  const bool speed = scores.terms.speed;
  const char* of = speed ? "blocks" : "seeds";
  std::vector<Cell> row{fmt::format("{} against {}{}", scores.arms[pair.second].name, scores.arms[pair.first].name,
                                    task.empty() ? "" : ", " + task)};
  const auto at = [&](double value) { return speed ? std::exp(value) : value; };
  const auto cell = [&](const std::optional<statistics::Difference>& d, double low, double high) {
    return d ? Cell{Cell95(at(d->value), at(low), at(high), pair.n, of)} : Cell{};
  };
  row.push_back(pair.interval ? cell(pair.difference, pair.interval->low, pair.interval->high) : Cell{});
  if (speed) row.push_back(pair.cpu ? cell(pair.cpu, pair.cpu->low, pair.cpu->high) : Cell{});
  row.push_back(Reading(pair.probability));
  row.push_back(MaybeReading(pair.p));
  row.push_back(MaybeReading(pair.iqm_first));
  row.push_back(MaybeReading(pair.iqm_second));
  row.push_back(pair.iqm_difference ? Cell{Cell95(*pair.iqm_second - *pair.iqm_first, pair.iqm_difference->low,
                                                  pair.iqm_difference->high, pair.n, of)}
                                    : Cell{});
  row.push_back(Reading(static_cast<double>(pair.n)));
  row.push_back(Reading(static_cast<double>(pair.looks)));
  if (scores.terms.margin_pct) row.push_back(pair.equivalence ? Cell{Reading(pair.equivalence->p)} : Cell{});
  return row;
}

}  // namespace

std::string Counted(const AbScores& scores, const PairJudgement& pair) {
  if (scores.terms.speed) return fmt::format("{} blocks", pair.n);
  const size_t first = JudgedScores(scores, pair, pair.first).size(), second = JudgedScores(scores, pair, pair.second).size();
  return (first == second ? fmt::format("{} seeds each", first) : fmt::format("{} and {} seeds", first, second)) +
         NeverReached(JudgedArrivals(scores, pair));
}

std::string MeansText(const AbScores& scores, const PairJudgement& pair) {
  return fmt::format("{}: {} {}, {} {}", scores.metric.title, scores.arms[pair.first].name, MeanOf(scores, pair, pair.first),
                     scores.arms[pair.second].name, MeanOf(scores, pair, pair.second));
}

std::string DifferenceText(const AbScores& scores, const PairJudgement& pair) {
  if (!pair.difference) return "";
  const statistics::Difference& d = *pair.difference;
  if (scores.terms.speed)
    return fmt::format("{:.3g} times (95 % interval {:.3g} to {:.3g})", std::exp(d.value), std::exp(pair.interval->low),
                       std::exp(pair.interval->high));
  return fmt::format("difference {} (95 % interval {})", Short(d.value), Interval(pair.interval->low, pair.interval->high));
}

std::string LeadText(const AbScores& scores, const PairJudgement& pair) {
  return fmt::format("its {} is {} by {}", scores.metric.title, scores.terms.direction < 0 ? "lower" : "higher",
                     Lead(scores, pair));
}

std::string WhyStopped(const AbScores& scores, const ArmsJudgement& judgement) {
  const std::string error = fmt::format("{} of comparisons of equal arms find a difference", Percent(scores.terms.alpha));
  if (scores.terms.looks == 1) return fmt::format("Judged once: at most {}.", error);
  const std::string at = fmt::format("look {} of {}", judgement.looks, scores.terms.looks);
  if (!judgement.decided) return fmt::format("So far: {}.", at);
  const auto has = [&](std::initializer_list<Answer> answers) {
    return [answers](const PairJudgement& pair) { return std::ranges::find(answers, pair.answer) != answers.end(); };
  };
  const bool is_last = judgement.looks >= scores.terms.looks;
  const bool is_known = std::ranges::none_of(judgement.pairs, has({Answer::kInconclusive, Answer::kInvalid}));
  std::string text = fmt::format("The comparison stopped at {}{}; with all looks, at most {}.", at,
                                 is_last    ? ", the last one"
                                 : is_known ? ", because the answer was known"
                                            : "",
                                 error);
  const auto is_early = [&](const PairJudgement& pair) { return pair.looks < scores.terms.looks; };
  if (std::ranges::any_of(judgement.pairs, [&](const PairJudgement& pair) {
        return is_early(pair) && has({Answer::kFirst, Answer::kSecond})(pair);
      }))
    text += " A lead at an early stop is too large on average: expect a smaller lead in new runs.";
  return text;
}

std::vector<std::string> VerdictsOfPairs(const AbScores& scores, const ArmsJudgement& judgement) {
  std::vector<std::string> text;
  for (const PairJudgement& pair : judgement.pairs) {
    if (pair.looks > 0) text.push_back(Verdict(scores, pair));
    if (!pair.why_missing.empty())
      text.push_back(fmt::format("No verdict on {} and {}: {}", scores.arms[pair.first].name, scores.arms[pair.second].name,
                                 pair.why_missing));
  }
  if (const std::string ranking = RankingText(scores, judgement); !ranking.empty()) text.insert(text.begin(), ranking);
  return text;
}

std::vector<std::string> RemarksOn(const AbScores& scores, const ArmsJudgement& judgement) {
  std::vector<std::string> text;
  for (const ArmScores& arm : scores.arms) {
    if (arm.diverged > 0)
      text.push_back(fmt::format("{} of {} runs of {} diverged and count as the worst score seen.", arm.diverged,
                                 arm.values.size(), arm.name));
  }
  size_t set_aside = 0;
  for (const PairJudgement& pair : judgement.pairs) set_aside = std::max(set_aside, pair.set_aside);
  if (set_aside > 0)
    text.push_back(fmt::format("{} {} discarded, because other programs competed for the cores.", set_aside,
                               set_aside == 1 ? "block was" : "blocks were"));
  text.insert(text.end(), scores.warnings.begin(), scores.warnings.end());
  for (const PairJudgement& pair : judgement.pairs) {
    for (const std::string& warning : pair.warnings) {
      if (std::ranges::find(text, warning) == text.end()) text.push_back(warning);
    }
  }
  return text;
}

std::vector<std::string> VerdictOfArms(const AbScores& scores, const ArmsJudgement& judgement) {
  std::vector<std::string> text;
  if (!scores.whys_invalid.empty()) {
    for (const std::string& why : scores.whys_invalid) text.push_back(text.empty() ? "Invalid: " + why : why);
    return text;
  }
  if (judgement.looks == 0) return {"No answer yet: the first look has not ended."};
  text = VerdictsOfPairs(scores, judgement);
  text.push_back(WhyStopped(scores, judgement));
  const std::vector<std::string> remarks = RemarksOn(scores, judgement);
  text.insert(text.end(), remarks.begin(), remarks.end());
  return text;
}

std::string StandingOfArms(const AbScores& scores, const ArmsJudgement& judgement) {
  if (!scores.whys_invalid.empty() || judgement.looks == 0 || judgement.decided)
    return VerdictOfArms(scores, judgement).front();
  return fmt::format("look {} of {}: {}: not decided", judgement.looks, scores.terms.looks,
                     judgement.pairs.size() > 1 ? PairsText(scores, judgement) : Values(scores, judgement.pairs.front()));
}

Table EvidenceTable(const AbScores& scores, const ArmsJudgement& judgement, const std::string& task) {
  const bool speed = scores.terms.speed;
  Table table{"evidence", "Evidence", {}, {}, {}, {}};
  table.columns = {
      {"pair", "second against first", "", ""},
      {"difference", speed ? "ratio" : "difference", "",
       speed ? "second divided by first, per block" : "second minus first; the 95 % interval is corrected for the looks", 0, 3},
      {"p_better", "P(better)", "", "share of score pairs (one per arm) in which the second arm is better", 0, 2},
      {"p", "p", "", speed ? "of the blocks" : "p of the permutation test; none after several looks", 0, 2},
      {"iqm_first", "IQM of first", "", "interquartile mean", 0, 4, !speed},
      {"iqm_second", "IQM of second", "", "interquartile mean", 0, 4, !speed},
      {"iqm_difference", "IQM difference", "", "with a stratified bootstrap interval", 0, 3, !speed},
      {"n", speed ? "blocks" : "seeds", "", "of each arm"},
      {"looks", "looks", "", "number of looks"}};
  if (speed)
    table.columns.insert(table.columns.begin() + 2,
                         {"cpu", "CPU time", "", "second divided by first, by the same blocks", 0, 3});
  if (scores.terms.margin_pct)
    table.columns.push_back(
        {"equivalence_p", "p of equivalence", "", "larger p of two one-sided tests against the margin", 0, 2});
  for (const PairJudgement& pair : judgement.pairs)
    if (pair.looks > 0) table.rows.push_back(EvidenceRow(scores, pair, task));
  return table;
}

}  // namespace backplane
