#include "kinds/ab_tasks.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>
#include <stdexcept>
#include <utility>

#include "figures/panels.hpp"
#include "kinds/ab_text.hpp"
#include "kinds/figure_rows.hpp"
#include "statistics/bootstrap.hpp"
#include "statistics/student.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

using nlohmann::json;
using statistics::Interval;

constexpr uint64_t kSeedOfTasks = 20261125;  // of draws: the same scores give the same report
constexpr size_t kThresholds = 101;
constexpr char kScaleText[] = "normalised score";

// The second half of the strata are the second arm's.
double ImprovementOf(const statistics::Tasks& drawn) {
  const auto half = drawn.begin() + static_cast<std::ptrdiff_t>(drawn.size() / 2);
  return statistics::ProbabilityOfImprovement({half, drawn.end()}, {drawn.begin(), half});
}

bool AnyInvalid(const std::vector<JudgedTask>& tasks) {
  return std::ranges::any_of(tasks, [](const JudgedTask& one) { return !one.scores.whys_invalid.empty(); });
}

size_t LooksOf(const std::vector<JudgedTask>& tasks) {
  size_t looks = 0;
  for (const JudgedTask& one : tasks) looks = std::max(looks, one.judgement.looks);
  return looks;
}

// For a pair with a winner "x, where its return is higher by 12 (95 % interval 3 to 21), 8 seeds each", else "x (return: a 12.3
// ± 2.1, b 14.0 ± 3.0; ± 95 %; 8 seeds each; difference 1.7 (95 % interval -1.9 to 5.3))", or "x" without scores.
std::string TaskWithLead(const JudgedTask& task, size_t pair) {
  const PairJudgement& judged = task.judgement.pairs[pair];
  const bool has_winner = judged.answer == Answer::kFirst || judged.answer == Answer::kSecond;
  if (judged.answer == Answer::kInvalid || judged.answer == Answer::kOneValue) return task.task.name;
  if (!has_winner) {
    const std::string difference = DifferenceText(task.scores, judged);
    return fmt::format("{} ({}; ± 95 %; {}{})", task.task.name, MeansText(task.scores, judged), Counted(task.scores, judged),
                       difference.empty() ? "" : "; " + difference);
  }
  return fmt::format("{}, where {}, {}", task.task.name, LeadText(task.scores, judged), Counted(task.scores, judged));
}

// "b is better than a on 2 of 3 tasks: x, where ...; y, where ...; on z they are not shown to differ"
std::string PairOverTasks(const std::vector<JudgedTask>& tasks, size_t pair) {
  const AbScores& scores = tasks.front().scores;
  const PairJudgement& any = tasks.front().judgement.pairs[pair];
  const std::string &first = scores.arms[any.first].name, &second = scores.arms[any.second].name;
  std::string text;
  for (const auto& [answer, words] : {std::pair{Answer::kSecond, ""},
                                      {Answer::kFirst, ""},
                                      {Answer::kEquivalent, "are equivalent"},
                                      {Answer::kInconclusive, "are not shown to differ"},
                                      {Answer::kNotRanked, "are not ranked"},
                                      {Answer::kIdentical, "are identical, to the last bit,"},
                                      {Answer::kOneValue, "have one value on every seed"},
                                      {Answer::kInvalid, "cannot be compared"}}) {
    std::vector<std::string> names;
    for (const JudgedTask& one : tasks)
      if (one.judgement.pairs[pair].answer == answer) names.push_back(TaskWithLead(one, pair));
    if (names.empty()) continue;
    const bool has_winner = answer == Answer::kFirst || answer == Answer::kSecond;
    const std::string on = fmt::format("{}", fmt::join(names, has_winner ? "; " : ", "));
    const bool leads = text.empty();
    text += leads ? "" : "; ";
    if (has_winner) {
      const bool is_first = answer == Answer::kFirst;
      text += fmt::format("{} is better than {} on {} of {} tasks: {}", is_first ? first : second, is_first ? second : first,
                          names.size(), tasks.size(), on);
    } else {
      text += leads ? fmt::format("{} and {} {} on {}", first, second, words, on) : fmt::format("on {} they {}", on, words);
      if (answer == Answer::kNotRanked) text += ", because neither is shown to beat both doing nothing and acting at random";
    }
  }
  return text;
}

std::string PairsOverTasks(const std::vector<JudgedTask>& tasks) {
  std::vector<std::string> pairs;
  for (size_t pair = 0; pair < tasks.front().judgement.pairs.size(); ++pair) pairs.push_back(PairOverTasks(tasks, pair));
  return fmt::format("{}", fmt::join(pairs, "; "));
}

// "b is better than a on 2 of 3 tasks: x, where ...; y, where .... b wins: it is better on some task and shown to be worse on
// none."
std::string WinnerText(const std::vector<JudgedTask>& tasks) {
  std::vector<ArmsJudgement> judgements;
  for (const JudgedTask& one : tasks) judgements.push_back(one.judgement);
  const std::vector<ArmScores>& arms = tasks.front().scores.arms;
  const std::optional<size_t> winner = WinnerOf(judgements, arms.size());
  if (!winner) return fmt::format("No arm wins over all tasks: {}.", PairsOverTasks(tasks));
  return fmt::format("{}. {} wins: it is better than {} on at least one task and shown to be worse on none.",
                     PairsOverTasks(tasks), arms[*winner].name, arms.size() == 2 ? arms[1 - *winner].name : "every other arm");
}

std::string Share(double share) { return FormatNumber(Reading(share), 2); }

std::string WithInterval(double value, const std::optional<Interval>& interval) {
  return interval ? fmt::format("{} ({} to {})", Share(value), Share(interval->low), Share(interval->high)) : Share(value);
}

// "Over 3 tasks, 95 % intervals: P(b improves on a) 0.81 (0.72 to 0.90); IQM of normalised scores: a 0.55 (...), b 0.70 (...)."
std::string TogetherText(const OverTasks& together, size_t tasks) {
  std::string text;
  for (const OverTasks::Pair& pair : together.pairs)
    text += fmt::format("P({} improves on {}) {}; ", together.arms[pair.second].name, together.arms[pair.first].name,
                        WithInterval(pair.improvement, pair.interval));
  std::vector<std::string> means;
  for (const OverTasks::Arm& arm : together.arms) means.push_back(arm.name + " " + WithInterval(arm.iqm, arm.iqm_interval));
  return fmt::format("Over {} tasks, with 95 % intervals: {}IQM of normalised scores: {}.", tasks, text,
                     fmt::join(means, ", "));
}

Number WithInterval95(double value, const std::optional<Interval>& interval, size_t n) {
  Number number = Reading(value);
  number.n = n;
  number.of = "scores";
  if (interval) number.low = interval->low, number.high = interval->high;
  return number;
}

size_t ScoresIn(const statistics::Tasks& tasks) {
  size_t n = 0;
  for (const auto& scores : tasks) n += scores.size();
  return n;
}

// The arms of every task in the order of the first task's, as pairs are joined by their places.
void SortArms(std::vector<PointsOfTask>* tasks) {
  const auto names_of = [](const PointsOfTask& task) {
    std::vector<std::string> names;
    for (const ComparedPoint& point : task.points) names.push_back(point.name);
    return names;
  };
  const std::vector<std::string> order = names_of(tasks->front());
  for (PointsOfTask& task : *tasks) {
    const std::vector<std::string> names = names_of(task);
    if (!std::ranges::is_permutation(names, order))
      throw std::runtime_error(fmt::format("compare.arms: expected the same arms on every task, got {} on '{}' and {} on '{}'",
                                           fmt::join(names, ", "), task.task.name, fmt::join(order, ", "),
                                           tasks->front().task.name));
    std::ranges::sort(task.points, {}, [&](const ComparedPoint& point) { return std::ranges::find(order, point.name); });
  }
}

}  // namespace

std::vector<PointsOfTask> TasksOf(const Combined& combined, const std::vector<ComparedPoint>& points,
                                  const CompareTerms& terms) {
  if (terms.tasks.empty()) return {{{}, points}};
  std::vector<PointsOfTask> tasks;
  for (const CompareTask& task : terms.tasks) {
    if (task.reference.size() != 2 || task.reference[0] == task.reference[1])
      throw std::runtime_error(
          fmt::format("compare.tasks: expected reference: [worst, best] for '{}', got none or two equal numbers", task.name));
    tasks.push_back({task, {}});
    for (const ComparedPoint& point : points) {
      const ArmOnTask name = SplitOnTask(PointName(combined.trials[point.trials.front()].data));
      if (name.task != task.name) continue;
      tasks.back().points.push_back(point);
      tasks.back().points.back().name = name.arm;
    }
  }
  SortArms(&tasks);
  return tasks;
}

statistics::Interval CompleteImprovement(double improvement, size_t pairs) {
  const double least = std::pow(1 - statistics::kUpperTail, 1 / static_cast<double>(pairs));
  return improvement == 1 ? statistics::Interval{least, 1} : statistics::Interval{0, 1 - least};
}

OverTasks Together(const std::vector<JudgedTask>& tasks) {
  OverTasks out;
  const size_t looks = LooksOf(tasks), arms = tasks.front().scores.arms.size();
  for (size_t i = 0; i < arms; ++i) {
    OverTasks::Arm arm{tasks.front().scores.arms[i].name, {}, 0, 0, {}};
    for (const JudgedTask& one : tasks) {
      std::vector<double> scores = JudgedValues(one.scores.arms[i].values, one.scores.terms, looks);
      for (double& score : scores) score = one.task.Normalised(score);
      arm.scores.push_back(std::move(scores));
    }
    arm.iqm = statistics::InterquartileMean(arm.scores);
    arm.gap = statistics::OptimalityGap(arm.scores, 1);
    arm.iqm_interval = statistics::StratifiedBootstrap(
        arm.scores, [](const statistics::Tasks& drawn) { return statistics::InterquartileMean(drawn); }, kSeedOfTasks);
    out.arms.push_back(std::move(arm));
  }
  for (size_t first = 0; first < arms; ++first) {
    for (size_t second = first + 1; second < arms; ++second) {
      statistics::Tasks both = out.arms[first].scores;
      both.insert(both.end(), out.arms[second].scores.begin(), out.arms[second].scores.end());
      const double improvement = ImprovementOf(both);
      size_t pairs = 0;
      for (size_t task = 0; task < tasks.size(); ++task)
        pairs += std::min(out.arms[first].scores[task].size(), out.arms[second].scores[task].size());
      const bool is_complete = (improvement == 0 || improvement == 1) && pairs > 0;
      out.pairs.push_back(
          {first, second, improvement,
           is_complete ? std::optional(CompleteImprovement(improvement, pairs))
                       : statistics::StratifiedBootstrap(both, ImprovementOf, kSeedOfTasks, statistics::kRepeatsOfProfiles)});
    }
  }
  return out;
}

std::vector<std::string> VerdictOfTasks(const std::vector<JudgedTask>& tasks) {
  if (tasks.size() == 1) return VerdictOfArms(tasks.front().scores, tasks.front().judgement);
  std::vector<std::string> text;
  const auto add_once = [&](const std::string& sentence) {
    if (std::ranges::find(text, sentence) == text.end()) text.push_back(sentence);
  };
  if (AnyInvalid(tasks)) {
    for (const JudgedTask& one : tasks)
      for (const std::string& why : one.scores.whys_invalid)
        text.push_back(fmt::format("{}On {}: {}", text.empty() ? "Invalid. " : "", one.task.name, why));
    return text;
  }
  const bool all_begun = std::ranges::all_of(tasks, [](const JudgedTask& one) { return one.judgement.looks > 0; });
  if (!all_begun) return {"No answer yet: the first look has not ended."};
  text.push_back(WinnerText(tasks));
  text.push_back(TogetherText(Together(tasks), tasks.size()));
  for (const JudgedTask& one : tasks)
    for (const std::string& sentence : VerdictsOfPairs(one.scores, one.judgement))
      text.push_back(one.task.name + ": " + sentence);
  const auto longest = std::ranges::max_element(tasks, {}, [](const JudgedTask& one) { return one.judgement.looks; });
  ArmsJudgement all = longest->judgement;
  all.decided = std::ranges::all_of(tasks, [](const JudgedTask& one) { return one.judgement.decided; });
  text.push_back(WhyStopped(longest->scores, all));
  for (const JudgedTask& one : tasks)
    for (const std::string& remark : RemarksOn(one.scores, one.judgement)) add_once(remark);
  return text;
}

std::string StandingOfTasks(const std::vector<JudgedTask>& tasks) {
  if (tasks.size() == 1) return StandingOfArms(tasks.front().scores, tasks.front().judgement);
  const bool decided = std::ranges::all_of(tasks, [](const JudgedTask& one) { return one.judgement.decided; });
  if (AnyInvalid(tasks) || decided || LooksOf(tasks) == 0) return VerdictOfTasks(tasks).front();
  return fmt::format("look {} of {}: {}: not decided", LooksOf(tasks), tasks.front().scores.terms.looks, PairsOverTasks(tasks));
}

std::vector<Table> TablesOfTasks(const OverTasks& together) {
  Table scores{"normalised", "Normalised scores, over all tasks", {}, {}, {}, {}};
  scores.columns = {{"arm", "arm", "", ""},
                    {"iqm", "IQM", "",
                     "interquartile mean of the scores of all tasks, 0 at a task's worst reference and 1 at its best", 1, 3},
                    {"gap", "optimality gap", "", "mean shortfall below 1", -1, 3}};
  scores.notes.push_back("Intervals are of a stratified bootstrap, which resamples the seeds within each task.");
  for (const OverTasks::Arm& arm : together.arms)
    scores.rows.push_back({arm.name, WithInterval95(arm.iqm, arm.iqm_interval, ScoresIn(arm.scores)), Reading(arm.gap)});
  Table improvement{"probability_of_improvement", "Probability of improvement, over all tasks", {}, {}, {}, {}};
  improvement.columns = {
      {"pair", "second on first", "", ""},
      {"improvement", "P(improvement)", "",
       "share of score pairs (one per arm, same task) in which the second arm is better; mean over tasks", 0, 3}};
  for (const OverTasks::Pair& pair : together.pairs) {
    const OverTasks::Arm &first = together.arms[pair.first], &second = together.arms[pair.second];
    improvement.rows.push_back(
        {fmt::format("{} on {}", second.name, first.name),
         WithInterval95(pair.improvement, pair.interval, ScoresIn(first.scores) + ScoresIn(second.scores))});
  }
  return {std::move(scores), std::move(improvement)};
}

Figure ProfileFigure(const OverTasks& together) {
  Figure figure;
  figure.name = "profile";
  figure.title = "Performance profile over all tasks";
  figure.alt = figure.title + ": share of each arm's scores above a threshold, with 95 % bands of a stratified bootstrap.";
  double low = 0, high = 1;
  for (const OverTasks::Arm& arm : together.arms) {
    for (const std::vector<double>& scores : arm.scores) {
      low = std::min(low, *std::ranges::min_element(scores));
      high = std::max(high, *std::ranges::max_element(scores));
    }
  }
  std::vector<double> thresholds;
  for (size_t i = 0; i < kThresholds; ++i)
    thresholds.push_back(low + (high - low) * static_cast<double>(i) / static_cast<double>(kThresholds - 1));
  std::vector<std::string> names;
  for (const OverTasks::Arm& arm : together.arms) names.push_back(arm.name);
  names = FigureLabels(names);
  const std::string title = "scores above a threshold";
  for (size_t i = 0; i < names.size(); ++i) {
    const OverTasks::Arm& arm = together.arms[i];
    const std::vector<double> profile = statistics::PerformanceProfile(arm.scores, thresholds);
    const bool is_filled = names.size() <= kMostFilled;
    const auto band = is_filled ? statistics::ProfileBand(arm.scores, thresholds, kSeedOfTasks) : std::nullopt;
    for (size_t k = 0; k < thresholds.size(); ++k) {
      json row = RowOf(title, "mean", names[i], names[i]);
      row["x"] = thresholds[k];
      PutNumber(WithInterval95(profile[k], band ? std::optional((*band)[k]) : std::nullopt, ScoresIn(arm.scores)), 3, &row);
      figure.rows.push_back(std::move(row));
    }
  }
  figure.panels.push_back(
      View(CurvePanel{{title, std::string(kScaleText) + " (0 worst, 1 best reference)", "share of scores above", "arm"},
                      {720, 320},
                      {},
                      /*smooths=*/false},
           Palette("name", names)));
  return figure;
}

}  // namespace backplane
