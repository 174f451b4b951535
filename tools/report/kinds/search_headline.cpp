#include "kinds/search_headline.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "results/option_importance.hpp"
#include "statistics/difference.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr double kAtAnEdge = 0.03;  // of an option's range

std::string Unit(const SearchParts& parts) { return parts.metric.unit.empty() ? "" : " " + parts.metric.unit; }

std::string Gap(double value) { return FormatNumber(Reading(value), 3); }

std::string Seeds(size_t n) { return fmt::format("{} fresh {}", n, n == 1 ? "seed" : "seeds"); }

std::string Answer(const SearchParts& parts) {
  const Study& study = parts.study;
  const StudyTrial* best = parts.Best();
  const size_t running = study.Count(StudyState::kRunning), complete = study.Count(StudyState::kComplete);
  if (!best && parts.is_confirmed) return "No best setting: none has a finite score with each of its fresh seeds.";
  if (!best)
    return fmt::format("No trial is complete{}: there is no best setting yet.",
                       running > 0 ? fmt::format(" yet, {} {} running", running, running == 1 ? "is" : "are") : "");
  const ConfirmedSetting* confirmed = parts.is_confirmed ? parts.Confirmed(*best) : nullptr;
  if (confirmed)
    return fmt::format("Best setting: {} ({}, of {} trials): {} {}{} with {}.", parts.Setting(*best), NumberName(*best),
                       study.trials.size(), parts.metric.title, parts.Value(*confirmed), Unit(parts),
                       Seeds(confirmed->values.size()));
  return fmt::format("Best setting: {} ({}): {} {}{}, {} {} complete {}.", parts.Setting(*best), NumberName(*best),
                     parts.metric.title, parts.Value(*best->value), Unit(parts),
                     study.maximize ? "the highest of" : "the lowest of", complete, complete == 1 ? "trial" : "trials");
}

// Of the lead that the best of the search had over the second how much was luck. Empty: it can not be said.
std::string LuckOf(const SearchParts& parts) {
  std::vector<const ConfirmedSetting*> order;
  for (const ConfirmedSetting& one : parts.confirmed)
    if (one.is_eligible() && one.trial->value) order.push_back(&one);
  std::stable_sort(order.begin(), order.end(),
                   [&](const auto* a, const auto* b) { return parts.study.IsBetter(*a->trial->value, *b->trial->value); });
  if (order.empty()) return "";
  const ConfirmedSetting& first = *order[0];
  const auto mean = [](const ConfirmedSetting& one) { return Mean(one.values, "seeds").value; };
  const std::string scores = fmt::format("{} {} scores {} ({} in the search)", Seeds(first.values.size()),
                                         NumberName(*first.trial), parts.Value(first), parts.Value(*first.trial->value));
  if (order.size() < 2) return fmt::format("With {}.", scores);
  const ConfirmedSetting& second = *order[1];
  const double led = parts.Lead(*first.trial->value, *second.trial->value), leads = parts.Lead(mean(first), mean(second));
  const std::string share = leads <= 0 ? "All" : leads >= led ? "None" : FormatNumber(Reading(1 - leads / led), 2);
  const std::string lead =
      led > 0 ? fmt::format("{} of the {} by which {} led {} in the search was luck", share, Gap(led), NumberName(*first.trial),
                            NumberName(*second.trial))
              : fmt::format("In the search {} and {} were level", NumberName(*first.trial), NumberName(*second.trial));
  return fmt::format("{}: with {}, {} {} ({}).", lead, scores, NumberName(*second.trial), parts.Value(second),
                     parts.Value(*second.trial->value));
}

// Of the best two by fresh seeds.
std::string OrderOf(const SearchParts& parts) {
  if (parts.confirmed.size() < 2 || !parts.confirmed[1].is_eligible()) return "";
  const ConfirmedSetting &a = parts.confirmed[0], &b = parts.confirmed[1];
  const auto difference = statistics::WelchDifference(a.values, b.values);
  const std::string pair = fmt::format("{} before {}", NumberName(*a.trial), NumberName(*b.trial));
  if (!difference) return fmt::format("Whether the order is certain ({}) can not be said: too few seeds, or no spread.", pair);
  const double low = parts.study.maximize ? difference->low : -difference->high,
               high = parts.study.maximize ? difference->high : -difference->low;
  return fmt::format("The order of the best two ({}) is {}certain: they differ by {}, 95 % interval {} to {}.", pair,
                     low > 0 ? "" : "not ", Gap(std::abs(difference->value)), Gap(low), Gap(high));
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
    if (const size_t count = study.Count(state); count > 0)
      counts.push_back(state == StudyState::kPruned ? PrunedText(study) : fmt::format("{} {}", count, Word(state)));
  if (counts.empty()) return "Nothing has been suggested yet.";
  const auto no_point =
      std::count_if(study.trials.begin(), study.trials.end(), [](const StudyTrial& trial) { return trial.point_id.empty(); });
  if (no_point > 0) counts.push_back(fmt::format("of these {} left out by `where`", no_point));
  const std::string what = study.method.empty() ? "point" : "suggestion",
                    by = study.method.empty() ? "" : " by " + study.method;
  return fmt::format("{} {}{}{}: {}.", study.trials.size(), what, study.trials.size() == 1 ? "" : "s", by,
                     fmt::join(counts, ", "));
}

void AddEdges(const SearchParts& parts, std::vector<std::string>* sentences) {
  const StudyTrial* best = parts.Best();
  if (!best || parts.study.method.empty()) return;
  for (const SearchedOption& option : parts.study.space) {
    if (option.is_choice() || option.low == option.high || !best->params.contains(option.path)) continue;
    const std::optional<double> place = option.PlaceOf(best->params.at(option.path));
    if (!place || (*place > kAtAnEdge && *place < 1 - kAtAnEdge)) continue;
    const auto end = [](double value) { return FormatNumber(Reading(value), 3); };
    sentences->push_back(
        fmt::format("The best setting lies at the {} edge of its space: {} = {}, of {} to {}; better ones may lie beyond.",
                    *place < 0.5 ? "lower" : "upper", option.path, parts.Said(option.path, best->params.at(option.path)),
                    end(option.low), end(option.high)));
  }
}

}  // namespace

std::vector<std::string> SearchVerdict(const SearchParts& parts) {
  const Study& study = parts.study;
  std::vector<std::string> sentences = {Answer(parts)};
  if (parts.is_confirmed) {
    for (std::string sentence : {LuckOf(parts), OrderOf(parts), Excluded(parts)})
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
        fmt::format("Of {} complete trials no option's importance is shown: that takes {}.", complete, kLeastToRank));
  const bool one_seed =
      std::all_of(study.trials.begin(), study.trials.end(), [](const StudyTrial& trial) { return trial.trials.size() <= 1; });
  const bool goes_on = study.Count(StudyState::kRunning) + study.Count(StudyState::kWaiting) > 0;
  if (one_seed && !parts.confirms && !goes_on && complete > 1)
    sentences.push_back(fmt::format(
        "One seed a point, and no fresh ones: the best of {} noisy scores looks better than it is (sweep.search.confirm).",
        complete));
  return sentences;
}

}  // namespace backplane
