#include "kinds/search_headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <numeric>

#include "results/option_importance.hpp"
#include "statistics/difference.hpp"
#include "statistics/log_rank.hpp"
#include "statistics/sample.hpp"
#include "statistics/student.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr double kAtAnEdge = 0.03;              // of an option's range
constexpr uint64_t kSeedOfArrivals = 20261130;  // of random assignments: the same scores give the same verdict
constexpr size_t kMostSeedsNamed = 1000;

std::string Unit(const SearchParts& parts) { return parts.metric.unit.empty() ? "" : " " + parts.metric.unit; }

std::string Gap(double value) { return FormatNumber(Reading(value), 3); }

std::string Seeds(size_t n) { return fmt::format("{} fresh {}", n, n == 1 ? "seed" : "seeds"); }

std::string Capital(std::string text) {
  text[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(text[0])));
  return text;
}

// The lead of `a` over `b` with fresh seeds; the intervals of so many pairs hold together in 95 % of all cases. For steps_to,
// the means are restricted to the time up to which both are known. Absent: too few seeds, or no spread.
struct FreshLead {
  double value = 0, low = 0, high = 0;
};
std::optional<FreshLead> LeadWithFreshSeeds(const SearchParts& parts, const ConfirmedSetting& a, const ConfirmedSetting& b,
                                            size_t pairs) {
  const auto difference = parts.metric.StepsGoal() ? statistics::RestrictedDifference(a.arrivals(), b.arrivals())
                                                   : statistics::WelchDifference(a.values, b.values);
  if (!difference) return std::nullopt;
  const double tail = (1 - statistics::kUpperTail) / static_cast<double>(pairs),
               half = statistics::StudentQuantile(1 - tail, difference->degrees_of_freedom) * difference->standard_error,
               value = parts.Lead(difference->value, 0);
  return FreshLead{value, value - half, value + half};
}

std::string IntervalText(const FreshLead& lead, const std::string& of = "") {
  return fmt::format("95 % interval {} to {}{}", Gap(lead.low), Gap(lead.high), of);
}

// The share of the lead in the search that fresh seeds do not show. Empty: its interval excludes nothing, or there was no lead.
std::string ShareOfLuck(double led, const FreshLead& lead) {
  if (!(led > 0)) return "";
  const auto luck_pct = [&](double leads) { return 100 * std::clamp(1 - leads / led, 0.0, 1.0); };
  const double low = luck_pct(lead.high), high = luck_pct(lead.low);
  if (low <= 0 && high >= 100) return " How much of the lead in the search was luck is unknown.";
  return fmt::format(" So {:.0f} % of the lead in the search was luck (95 % interval {:.0f} to {:.0f} %).",
                     luck_pct(lead.value), low, high);
}

// The lead that the best of the search had over the second, and how much of it is left. Empty: no setting was confirmed.
std::string LuckOf(const SearchParts& parts) {
  std::vector<const ConfirmedSetting*> order;
  for (const ConfirmedSetting& one : parts.confirmed)
    if (one.is_eligible() && one.trial->value) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return parts.study.IsBetter(*a->trial->value, *b->trial->value); });
  if (order.empty()) return "";
  const ConfirmedSetting& first = *order[0];
  const std::string one = NumberName(*first.trial);
  if (order.size() < 2)
    return fmt::format("With {}, {} scores {} ({} in the search).", Seeds(first.values.size()), one, parts.Value(first),
                       parts.Value(*first.trial->value));
  const ConfirmedSetting& second = *order[1];
  const double led = parts.Lead(*first.trial->value, *second.trial->value);
  const std::string other = NumberName(*second.trial);
  std::string in_search = led > 0 ? fmt::format("In the search, {} led {} by {}.", one, other, Gap(led))
                                  : fmt::format("In the search, {} and {} had equal scores.", one, other);
  const std::optional<FreshLead> lead = LeadWithFreshSeeds(parts, first, second, 1);
  if (!lead) return in_search;
  return fmt::format("{} With {} each, the lead of {} is {} ({}).{}", in_search, Seeds(first.values.size()), one,
                     Gap(lead->value), IntervalText(*lead), ShareOfLuck(led, *lead));
}

// An interval shrinks with the square root of the number of seeds. Empty: there is no lead to show.
std::string SeedsToDecide(const FreshLead& lead, size_t seeds) {
  if (!(lead.value > 0)) return "";
  const double shrink = (lead.value - lead.low) / lead.value, needed = std::ceil(static_cast<double>(seeds) * shrink * shrink);
  if (needed > kMostSeedsNamed) return " More than 1,000 seeds would be needed to show a lead of this size.";
  return fmt::format(
      " About {:.0f} seeds per setting instead of {} (sweep.search.confirm.seeds) would show a lead of this size.", needed,
      seeds);
}

struct Order {
  std::string sentence;  // empty: there are no two settings to compare
  bool is_shown = true;  // the first is better, or has no rival
};

// The least two-sided p of a permutation test: the most extreme of all assignments of 2 n trials, or its mirror image.
double LeastP(size_t n) {
  double assignments = 1;
  for (size_t i = 1; i <= n; ++i) assignments *= static_cast<double>(n + i) / static_cast<double>(i);
  return 2 / assignments;
}

// Empty: this number of seeds can show a lead.
std::string SeedsForTest(size_t seeds, size_t pairs) {
  size_t least = seeds;
  while (LeastP(least) * static_cast<double>(pairs) >= 1 - statistics::kLevel) ++least;
  return least == seeds
             ? ""
             : fmt::format(" {} seeds per setting cannot show any lead; use at least {} (sweep.search.confirm.seeds).", seeds,
                           least);
}

// Orders settings by their steps to a goal, which some trials may never reach.
Order OrderByArrivals(const SearchParts& parts, const ConfirmedSetting& a, const ConfirmedSetting& b, size_t pairs) {
  const statistics::Arrivals of_a = a.arrivals(), of_b = b.arrivals();
  const std::string one = NumberName(*a.trial), other = NumberName(*b.trial);
  const double horizon = statistics::CommonHorizon({of_a, of_b}),
               p = std::min(1.0, static_cast<double>(pairs) * statistics::LogRankPermutation(of_a, of_b, kSeedOfArrivals).p),
               lead = parts.Lead(statistics::MeanUpTo(of_a, horizon).value, statistics::MeanUpTo(of_b, horizon).value);
  const std::string evidence = fmt::format("log-rank test, p = {:.2g}{}{}", p,
                                           pairs > 1 ? fmt::format(" after correction for {} pairs of settings", pairs) : "",
                                           NeverReached({of_a, of_b}));
  const bool is_sooner = statistics::IsSlower(of_b, of_a) != parts.study.maximize;
  if (p < 1 - statistics::kLevel && lead > 0 && is_sooner)
    return {Capital(fmt::format("{} is better than {} by {}{} with fresh seeds ({}).", one, other, Gap(lead), Unit(parts),
                                evidence)),
            true};
  return {
      Capital(fmt::format("{} is not shown to be better than {}: the lead with fresh seeds is {}{} ({}).{}", one, other,
                          Gap(lead), Unit(parts), evidence, SeedsForTest(std::min(a.values.size(), b.values.size()), pairs))),
      false};
}

// Compares the best two by fresh seeds, which were chosen from all pairs.
Order OrderOf(const SearchParts& parts) {
  const auto eligible = static_cast<size_t>(std::ranges::count_if(parts.confirmed, &ConfirmedSetting::is_eligible));
  if (eligible < 2) return {};
  const ConfirmedSetting &a = parts.confirmed[0], &b = parts.confirmed[1];
  const std::string one = NumberName(*a.trial), other = NumberName(*b.trial);
  const size_t pairs = eligible * (eligible - 1) / 2;
  if (parts.metric.StepsGoal()) return OrderByArrivals(parts, a, b, pairs);
  const std::optional<FreshLead> lead = LeadWithFreshSeeds(parts, a, b, pairs);
  if (!lead)
    return {fmt::format("The fresh seeds cannot show whether {} is better than {}: they are too few or have no spread.", one,
                        other),
            false};
  const std::string interval = IntervalText(*lead, pairs > 1 ? fmt::format(", widened for {} pairs of settings", pairs) : "");
  if (lead->low > 0)
    return {Capital(fmt::format("{} is better than {} by {} with fresh seeds ({}).", one, other, Gap(lead->value), interval)),
            true};
  return {Capital(fmt::format("{} is not shown to be better than {}: the lead with fresh seeds is {} ({}).{}", one, other,
                              Gap(lead->value), interval, SeedsToDecide(*lead, std::min(a.values.size(), b.values.size())))),
          false};
}

// `is_shown`: fresh seeds show that the best setting is better than the second.
std::string Answer(const SearchParts& parts, bool is_shown) {
  const Study& study = parts.study;
  const StudyTrial* best = parts.Best();
  const size_t running = study.Count(StudyState::kRunning), complete = study.Count(StudyState::kComplete);
  if (!best && parts.is_confirmed) return "No best setting: no setting has a finite score with each of its fresh seeds.";
  if (!best)
    return fmt::format("No trial is complete{}: there is no best setting yet.",
                       running > 0 ? fmt::format(" yet, {} {} running", running, running == 1 ? "is" : "are") : "");
  const ConfirmedSetting* confirmed = parts.is_confirmed ? parts.Confirmed(*best) : nullptr;
  if (confirmed)
    return fmt::format(
        "{}: {} ({}, of {} trials): {} {}{} with {} (± is a 95 % interval). {} of the {} trials {} run again with fresh seeds.",
        is_shown ? "Best setting" : "Leading setting, not shown to be the best", parts.Setting(*best), NumberName(*best),
        study.trials.size(), parts.metric.title, parts.Value(*confirmed), Unit(parts), Seeds(confirmed->values.size()),
        parts.confirmed.size(), study.trials.size(), parts.confirmed.size() == 1 ? "was" : "were");
  return fmt::format("Best setting: {} ({}): {} {}{}, {} {} complete {}.", parts.Setting(*best), NumberName(*best),
                     parts.metric.title, parts.Value(*best->value), Unit(parts),
                     study.maximize ? "the highest of" : "the lowest of", complete, complete == 1 ? "trial" : "trials");
}

// Why the setting with the best score in the search is not the best one. Empty: it is, or no fresh seeds decided.
std::string WhyNotTheBestOfTheSearch(const SearchParts& parts) {
  const StudyTrial *best = parts.Best(), *of_search = parts.study.Best();
  if (!parts.is_confirmed || !best || !best->value || !of_search || of_search == best) return "";
  if (!parts.study.IsBetter(*of_search->value, *best->value)) return "";
  const std::string name = Capital(NumberName(*of_search)), score = parts.Value(*of_search->value) + Unit(parts);
  const ConfirmedSetting* confirmed = parts.Confirmed(*of_search);
  const std::string scored = fmt::format("{} scored {} in the search ({}: {}, one seed each)", name, score, NumberName(*best),
                                         parts.Value(*best->value));
  if (!confirmed)
    return fmt::format("{}, but was not run with fresh seeds{}.", scored,
                       of_search->came_to_end ? " because the search had pruned it" : "");
  return fmt::format("{}, but {}{} with fresh seeds, which decide.", scored, parts.Value(*confirmed), Unit(parts));
}

// The mean of the largest of k standard normal numbers.
double MeanOfLargest(size_t k) {
  constexpr double kEnd = 8, kStep = 1.0 / 64;
  double mean = 0;
  for (double z = -kEnd; z < kEnd; z += kStep)
    mean += kStep * ((z >= 0 ? 1 : 0) - std::pow(std::erfc(-(z + kStep / 2) / std::sqrt(2.0)) / 2, static_cast<double>(k)));
  return mean;
}

// The bias of the best mean of several settings. It is the largest if they are equal, because the error of the chosen mean is
// at most the largest error.
std::string Chosen(const SearchParts& parts) {
  std::vector<double> errors;
  for (const ConfirmedSetting& one : parts.confirmed)
    if (one.is_eligible())
      errors.push_back(statistics::Summarise(one.values).variance / static_cast<double>(one.values.size()));
  if (errors.size() < 2) return "";
  const double mean = std::accumulate(errors.begin(), errors.end(), 0.0) / static_cast<double>(errors.size()),
               most = MeanOfLargest(errors.size()) * std::sqrt(mean);
  return fmt::format("{} was chosen from {} settings by these fresh seeds, so its value is too {} on average{}.",
                     Capital(NumberName(*parts.Best())), errors.size(), parts.study.maximize ? "high" : "low",
                     most > 0 ? fmt::format(": by {} if the settings are equal, else by less", Gap(most)) : "");
}

// Settings that cannot be the best because a run has no score.
std::string Excluded(const SearchParts& parts) {
  std::vector<std::string> named;
  for (const ConfirmedSetting& one : parts.confirmed)
    if (!one.is_eligible())
      named.push_back(fmt::format("{} ({} of {} fresh seeds without a finite score)", NumberName(*one.trial),
                                  one.seeds - one.values.size(), one.seeds));
  return named.empty() ? "" : fmt::format("Not considered: {}.", fmt::join(named, ", "));
}

std::string Counts(const SearchParts& parts) {
  const Study& study = parts.study;
  std::vector<std::string> counts;
  for (const StudyState state :
       {StudyState::kComplete, StudyState::kPruned, StudyState::kFailed, StudyState::kRunning, StudyState::kWaiting})
    if (const size_t count = study.Count(state); count > 0) counts.push_back(fmt::format("{} {}", count, Word(state)));
  if (counts.empty()) return "No suggestion yet.";
  const auto no_point =
      std::count_if(study.trials.begin(), study.trials.end(), [](const StudyTrial& trial) { return trial.point_id.empty(); });
  if (no_point > 0) counts.push_back(fmt::format("of these {} left out by `where`", no_point));
  const std::string what = study.method.empty() ? "point" : "suggestion",
                    by = study.method.empty() ? "" : " by " + study.method;
  const size_t at_end = study.CountPrunedAtEnd();
  return fmt::format("{} {}{}{}: {}.{}", study.trials.size(), what, study.trials.size() == 1 ? "" : "s", by,
                     fmt::join(counts, ", "),
                     at_end == 0   ? ""
                     : at_end == 1 ? " 1 pruned trial ran to its end anyway."
                                   : fmt::format(" {} pruned trials ran to their end anyway.", at_end));
}

void AddEdges(const SearchParts& parts, std::vector<std::string>* sentences) {
  const StudyTrial* best = parts.Best();
  if (!best || parts.study.method.empty()) return;
  for (const SearchedOption& option : parts.study.space) {
    if (option.is_choice() || option.low == option.high || !best->params.contains(option.path)) continue;
    const std::optional<double> place = option.PlaceOf(best->params.at(option.path));
    if (!place || (*place > kAtAnEdge && *place < 1 - kAtAnEdge)) continue;
    const auto end = [](double value) { return FormatNumber(Reading(value), 3); };
    sentences->push_back(fmt::format(
        "The best setting is at the {} edge of the search space: {} = {}, of {} to {}; better settings may lie beyond.",
        *place < 0.5 ? "lower" : "upper", option.path, parts.Said(option.path, best->params.at(option.path)), end(option.low),
        end(option.high)));
  }
}

}  // namespace

std::vector<std::string> SearchVerdict(const SearchParts& parts) {
  const Study& study = parts.study;
  const Order order = parts.is_confirmed ? OrderOf(parts) : Order{};
  std::vector<std::string> sentences = {Answer(parts, order.is_shown)};
  if (parts.is_confirmed) {
    for (const std::string& more : {order.sentence, WhyNotTheBestOfTheSearch(parts)})
      if (!more.empty()) sentences[0] += " " + more;
    for (std::string sentence : {LuckOf(parts), Chosen(parts), Excluded(parts)})
      if (!sentence.empty()) sentences.push_back(std::move(sentence));
  } else if (parts.confirms) {
    size_t over = 0, seeds = 0;
    for (const ConfirmedSetting& one : parts.confirmed) over += one.over, seeds += one.seeds;
    sentences.push_back(fmt::format("The best {} are run again with fresh seeds: {} of {} trials have ended.",
                                    parts.confirmed.size(), over, seeds));
  }
  sentences.push_back(Counts(parts));
  AddEdges(parts, &sentences);
  const size_t complete = study.Count(StudyState::kComplete);
  if (complete < kLeastToRank)
    sentences.push_back(
        fmt::format("The importance of options needs {1} complete trials; there are {0}.", complete, kLeastToRank));
  const bool one_seed =
      std::all_of(study.trials.begin(), study.trials.end(), [](const StudyTrial& trial) { return trial.trials.size() <= 1; });
  const bool goes_on = study.Count(StudyState::kRunning) + study.Count(StudyState::kWaiting) > 0;
  if (one_seed && !parts.confirms && !goes_on && complete > 1)
    sentences.push_back(
        fmt::format("Each point ran with one seed. The best of {} noisy scores is too good on average; sweep.search.confirm "
                    "runs the best settings with fresh seeds.",
                    complete));
  return sentences;
}

}  // namespace backplane
