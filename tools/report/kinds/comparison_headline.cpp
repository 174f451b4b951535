#include "kinds/comparison_headline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <cmath>
#include <iterator>

#include "kinds/change.hpp"
#include "statistics/difference.hpp"
#include "statistics/several.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr size_t kNamed = 4;                  // more would be a table
constexpr uint64_t kSeedOfRivals = 20261129;  // the same scores give the same answer

std::string WithUnit(const Number& number, const MeasureSpec& measure) {
  return FormatNumber(number, measure.digits) + (measure.unit.empty() ? "" : " " + measure.unit);
}

std::vector<size_t> PointsIn(const ComparisonParts& parts, size_t group) {
  std::vector<size_t> points;
  for (size_t i = 0; i < parts.points.size(); ++i)
    if (parts.points[i].group == group) points.push_back(i);
  return points;
}

// A point next to the baseline of its group.
struct Compared {
  size_t point = 0;
  std::optional<Number> value;
  SeedScores scores;
  JudgedPoint judged;
  double lead = 0;  // over the baseline, above 0 for the better one

  bool IsTold() const { return judged.verdict >= PointVerdict::kBetter; }
  bool IsJudged() const { return judged.verdict >= PointVerdict::kBelowFloors; }
};

// "+12.3 ± 4.5 %", or the difference in the measure's unit with Welch's interval.
std::string Gain(const Compared& one, const Number& base, const SeedScores& of_base, const MeasureSpec& measure) {
  Number change = Reading(one.value->value - base.value);
  if (!measure.in_ratios) {
    if (const auto welch = one.scores.DifferenceFrom(of_base)) change.low = welch->low, change.high = welch->high;
    return fmt::format("difference {}{}", change.value < 0 ? "" : "+", WithUnit(change, measure));
  }
  change = PercentChange(*one.value, base);
  const bool of_seeds = one.value->of == "seeds" && base.of == "seeds";
  if (!of_seeds) change.low = change.high = std::nullopt;
  return (change.value < 0 ? "" : "+") + FormatNumber(change, 3) + " %";
}

std::vector<Compared> CompareWith(const ComparisonParts& parts, size_t baseline, const MeasureSpec& measure) {
  const double of_base = parts.scoring.Value(baseline, measure)->value;
  std::vector<JudgedPoint> judged = parts.scoring.VerdictsAgainst(baseline, measure);
  std::vector<Compared> all;
  for (const size_t i : PointsIn(parts, parts.points[baseline].group)) {
    if (i == baseline) continue;
    Compared one{i, parts.scoring.Value(i, measure), parts.scoring.Scores(i, measure), std::move(judged[i]), 0};
    if (one.value) one.lead = (one.value->value - of_base) * (measure.direction < 0 ? -1 : 1);
    all.push_back(std::move(one));
  }
  // Points with a verdict, from the best to the worst, then the others in their order.
  std::ranges::stable_sort(all, [](const Compared& a, const Compared& b) {
    return a.IsTold() != b.IsTold() ? a.IsTold() : a.IsTold() && a.lead > b.lead;
  });
  return all;
}

// Points of the same machine that the chosen one was compared with, each list from the best point on.
struct Rivals {
  std::vector<size_t> alike, worse, unknown;  // not shown to be worse; shown to be worse; too few seeds
  size_t fewest = 0, most = 0;                // seeds of a compared point

  bool AreJudged() const { return !alike.empty() || !worse.empty(); }
  bool AnyOpen() const { return !alike.empty() || (worse.empty() && !unknown.empty()); }
};

// The other points of the chosen one's machine with a finite score on each seed, from the best on.
std::vector<size_t> ScoredRivals(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure) {
  std::vector<size_t> found;
  for (const size_t i : PointsIn(parts, parts.points[chosen].group)) {
    const SeedScores scores = parts.scoring.Scores(i, measure);
    const bool is_whole = !scores.values.empty() && !scores.incomplete && scores.missing == 0;
    if (i != chosen && is_whole && std::ranges::all_of(scores.values, [](double value) { return std::isfinite(value); }))
      found.push_back(i);
  }
  const double sign = measure.direction < 0 ? -1 : 1;
  std::ranges::stable_sort(found, std::ranges::greater{},
                           [&](size_t i) { return sign * parts.scoring.Value(i, measure)->value; });
  return found;
}

Rivals FindRivals(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure) {
  const auto scores_of = [&](size_t point) {
    std::vector<double> scores = parts.scoring.Scores(point, measure).values;
    for (double& score : scores) score *= measure.direction < 0 ? -1 : 1;
    return scores;
  };
  Rivals rivals;
  std::vector<std::vector<double>> judged{scores_of(chosen)};
  std::vector<statistics::Arrivals> arrivals{parts.scoring.Scores(chosen, measure).arrivals()};
  std::vector<size_t> others;
  rivals.fewest = rivals.most = judged.front().size();
  for (const size_t i : ScoredRivals(parts, chosen, measure)) {
    std::vector<double> scores = scores_of(i);
    if (std::min(scores.size(), judged.front().size()) < statistics::kLeastToJudge) {
      rivals.unknown.push_back(i);
      continue;
    }
    rivals.fewest = std::min(rivals.fewest, scores.size());
    rivals.most = std::max(rivals.most, scores.size());
    judged.push_back(std::move(scores));
    arrivals.push_back(parts.scoring.Scores(i, measure).arrivals());
    others.push_back(i);
  }
  if (others.empty()) return rivals;
  const std::optional<std::vector<char>> out =
      measure.StepsGoal() ? statistics::RuledOut(arrivals, 0, kSeedOfRivals) : statistics::RuledOut(judged, 0, kSeedOfRivals);
  for (size_t i = 0; i < others.size(); ++i) (out && (*out)[i + 1] ? rivals.worse : rivals.alike).push_back(others[i]);
  return rivals;
}

// "lr=0.003 (+30.3 ± 14.0 %)"; with what weakens the number: "lr=0.1 (+80 %, 1 of 5 runs diverged)". Without a number: "lr=0.1
// (2 of 6 runs failed)".
std::string NameWithGain(const ComparisonParts& parts, const Compared& one, size_t baseline, const MeasureSpec& measure) {
  const std::string& name = parts.points[one.point].name;
  if (one.judged.verdict == PointVerdict::kIncomplete) {
    const std::string why = parts.scoring.Ineligible(one.point, measure);
    return why.empty() ? name : fmt::format("{} ({})", name, why);
  }
  const std::string& detail = one.judged.detail;
  const std::optional<Number> base = parts.scoring.Value(baseline, measure);
  const bool has_gain = one.value && base && one.judged.verdict >= PointVerdict::kOneSeed && one.scores.HasOwn() &&
                        one.judged.verdict != PointVerdict::kOneValue;
  if (!has_gain) return detail.empty() ? name : fmt::format("{} ({})", name, detail);
  return fmt::format("{} ({}{}{})", name, Gain(one, *base, parts.scoring.Scores(baseline, measure), measure),
                     detail.empty() ? "" : ", ", detail);
}

// Compares the leader with the other points that are better than the baseline.
std::string BestOfBetter(const ComparisonParts& parts, const std::vector<Compared>& all, const MeasureSpec& measure) {
  const Rivals rivals = FindRivals(parts, all.front().point, measure);
  const bool alone = std::ranges::none_of(all, [&](const Compared& one) {
    return one.judged.verdict == PointVerdict::kBetter && std::ranges::find(rivals.alike, one.point) != rivals.alike.end();
  });
  return alone ? fmt::format(" {} is the best of these.", parts.points[all.front().point].name)
               : " None of these is shown to be the best.";
}

// Sentences that each name the points of one verdict: "Worse: lr=0.1 (-20 ± 5 %). Not shown to differ: 5 points."
std::string Listed(const ComparisonParts& parts, const std::vector<Compared>& all, size_t baseline,
                   const MeasureSpec& measure) {
  constexpr std::pair<PointVerdict, const char*> kWords[] = {{PointVerdict::kBetter, "Also better"},
                                                             {PointVerdict::kWorse, "Worse"},
                                                             {PointVerdict::kMore, "More"},
                                                             {PointVerdict::kLess, "Less"},
                                                             {PointVerdict::kNotShown, "Not shown to differ"},
                                                             {PointVerdict::kBelowFloors, "Not better than doing nothing"},
                                                             {PointVerdict::kIdentical, "Identical, to the last bit"},
                                                             {PointVerdict::kOneValue, "Not separated by this metric"},
                                                             {PointVerdict::kEndsAtGoal, "Ended at their goal"},
                                                             {PointVerdict::kOneSeed, "With one seed"},
                                                             {PointVerdict::kTooFewSeeds, "With too few seeds"},
                                                             {PointVerdict::kNotFinite, "Not finite"},
                                                             {PointVerdict::kIncomplete, "Without a verdict"}};
  std::string text;
  for (const auto& [verdict, words] : kWords) {
    std::vector<std::string> names;
    for (const Compared& one : all)
      if (one.judged.verdict == verdict) names.push_back(NameWithGain(parts, one, baseline, measure));
    if (verdict == PointVerdict::kBetter && !names.empty()) names.erase(names.begin());  // the first sentence names it
    if (names.empty()) continue;
    const size_t more = names.size() > kNamed ? names.size() - kNamed : 0;
    names.resize(names.size() - more);
    text += fmt::format(" {}: {}{}.", words, fmt::join(names, ", "), more > 0 ? fmt::format(" and {} more", more) : "");
    if (verdict == PointVerdict::kBetter) text += BestOfBetter(parts, all, measure);
  }
  return text;
}

// "5 seeds each", "3 to 5 seeds"
std::string SeedsOf(const std::vector<Compared>& all, const SeedScores& base) {
  size_t fewest = base.values.size(), most = fewest;
  for (const Compared& one : all) {
    if (one.scores.values.empty()) continue;
    fewest = std::min(fewest, one.scores.values.size());
    most = std::max(most, one.scores.values.size());
  }
  if (fewest != most) return fmt::format("{} to {} seeds per point", fewest, most);
  return fmt::format("{} {} each", most, most == 1 ? "seed" : "seeds");
}

// Why no point of the group has a verdict.
std::string NoVerdict(const std::vector<Compared>& all, const std::string& title) {
  const auto all_have = [&](PointVerdict verdict) {
    return std::ranges::all_of(all, [&](const Compared& one) { return one.judged.verdict == verdict; });
  };
  const std::string least = fmt::format("a verdict needs {} or more", statistics::kLeastToJudge);
  if (all_have(PointVerdict::kOneSeed)) return fmt::format("No verdict on {}: each point has one seed, and {}", title, least);
  if (all_have(PointVerdict::kTooFewSeeds)) return fmt::format("No verdict on {}: {} seeds per point", title, least);
  return fmt::format("No verdict on {}", title);
}

// The sentences on a group of points with a baseline.
struct Answer {
  std::string text;  // empty: there is nothing to compare
  bool has_verdicts = false, has_diverged = false;
};

Answer Against(const ComparisonParts& parts, size_t baseline, const MeasureSpec& measure) {
  const std::optional<Number> base = parts.scoring.Value(baseline, measure);
  if (!base) return {};
  const SeedScores of_base = parts.scoring.Scores(baseline, measure);
  const std::vector<Compared> all = CompareWith(parts, baseline, measure);
  if (all.empty()) return {};
  std::vector<Compared> better;
  std::ranges::copy_if(all, std::back_inserter(better),
                       [](const Compared& one) { return one.judged.verdict == PointVerdict::kBetter; });
  const std::optional<Goal> goal = measure.StepsGoal();
  std::vector<statistics::Arrivals> arms;
  if (goal) arms.push_back(of_base.arrivals());
  for (const Compared& one : all)
    if (goal) arms.push_back(one.scores.arrivals());
  const std::string name = "the baseline, " + parts.points[baseline].name, of_baseline = WithUnit(*base, measure),
                    seeds = SeedsOf(all, of_base) + NeverReached(arms);
  const bool is_judged = std::ranges::any_of(all, &Compared::IsJudged);
  std::string text;
  if (!better.empty())
    text = fmt::format("{} {} {}: {}{} against {}, {} ({}{}{}).", parts.points[better[0].point].name,
                       goal ? fmt::format("reaches {} sooner than", goal->Words()) : "is better than", name,
                       goal ? "" : measure.title + " ", WithUnit(*better[0].value, measure), of_baseline,
                       Gain(better[0], *base, of_base, measure), seeds, better[0].judged.detail.empty() ? "" : ", ",
                       better[0].judged.detail);
  else if (is_judged && measure.direction != 0)
    text = fmt::format("No point is shown to be better than {}: {} {} ({}).", name, measure.title, of_baseline, seeds);
  else
    text = fmt::format("{}. Baseline, {}: {} ({}).",
                       is_judged ? measure.title + " has no better direction" : NoVerdict(all, measure.title),
                       parts.points[baseline].name, of_baseline, seeds);
  const std::string missing = parts.scoring.WithoutScore(PointsIn(parts, parts.points[baseline].group), measure);
  text += Listed(parts, all, baseline, measure) + (missing.empty() ? "" : fmt::format(" Of all runs, {}.", missing));
  const auto diverged = [](const Compared& one) { return one.scores.diverged > 0; };
  return {text, is_judged, of_base.diverged > 0 || std::ranges::any_of(all, diverged)};
}

// The best eligible point by the measure's own direction. The others go to `excluded`.
std::optional<size_t> BestPoint(const ComparisonParts& parts, const std::vector<size_t>& points, const MeasureSpec& measure,
                                std::vector<ExcludedPoint>* excluded) {
  std::optional<size_t> best;
  double best_value = 0;
  for (const size_t i : points) {
    if (std::string why = parts.scoring.Ineligible(i, measure); !why.empty()) {
      excluded->push_back({i, std::move(why)});
      continue;
    }
    const double own = parts.scoring.Value(i, measure)->value * (measure.direction < 0 ? -1 : 1);
    if (best && own <= best_value) continue;
    best = i;
    best_value = own;
  }
  return best;
}

}  // namespace

std::optional<size_t> BestOfGroup(const ComparisonParts& parts, size_t group) {
  if (!parts.spec.selections.empty()) return parts.choices[group].chosen.front();
  std::vector<ExcludedPoint> excluded;
  return BestPoint(parts, PointsIn(parts, group), *parts.question.measure, &excluded);
}

namespace {

// Every run without a finite score is counted: by points, or of all points together if these are many.
std::string NotConsidered(const ComparisonParts& parts, size_t group, const MeasureSpec& measure,
                          const std::vector<ExcludedPoint>& excluded) {
  if (excluded.size() <= kNamed) return ExcludedText(parts, excluded);
  return fmt::format("{} points ({})", excluded.size(), parts.scoring.WithoutScore(PointsIn(parts, group), measure));
}

bool OthersDiverged(const ComparisonParts& parts, const std::vector<ExcludedPoint>& excluded, const MeasureSpec& measure) {
  return std::ranges::all_of(excluded, [&](const ExcludedPoint& one) {
    const SeedScores scores = parts.scoring.Scores(one.point, measure);
    return scores.diverged > 0 && scores.missing == 0;
  });
}

// "No point is the best by return, because all act at random: from 20.1 (a) to 23.5 (b)"
std::string OfRandomActions(const ComparisonParts& parts, const std::vector<size_t>& with_value, const MeasureSpec& measure) {
  const auto value = [&](size_t point) { return parts.scoring.Value(point, measure)->value; };
  const auto [low, high] = std::ranges::minmax(with_value, {}, value);
  const auto text = [&](size_t point) {
    return fmt::format("{} ({})", WithUnit(*parts.scoring.Value(point, measure), measure), parts.points[point].name);
  };
  return fmt::format("No point is the best by {}, because all act at random: from {} to {}", measure.title, text(low),
                     text(high));
}

// " by 204 ± 105"; empty without a spread.
std::string LeadOver(const ComparisonParts& parts, size_t chosen, size_t other, const MeasureSpec& measure) {
  const auto difference = parts.scoring.Scores(chosen, measure).DifferenceFrom(parts.scoring.Scores(other, measure));
  if (!difference) return "";
  Number lead = Reading(std::abs(difference->value));
  const double half = (difference->high - difference->low) / 2;
  lead.low = lead.value - half, lead.high = lead.value + half;
  return " by " + WithUnit(lead, measure);
}

std::string Best(const ComparisonParts& parts, size_t group, const MeasureSpec& measure) {
  const std::vector<size_t> all = PointsIn(parts, group);
  std::vector<size_t> with_value;
  for (const size_t i : all) {
    const std::optional<Number> value = parts.scoring.Value(i, measure);
    if (value && std::isfinite(value->value)) with_value.push_back(i);
  }
  const auto value_of = [&](size_t point) { return WithUnit(*parts.scoring.Value(point, measure), measure); };
  if (all.size() == 1 && with_value.size() == 1)
    return fmt::format("{}: {} {}", parts.points[with_value[0]].name, measure.title, value_of(with_value[0]));
  if (with_value.empty()) {
    const std::string missing = parts.scoring.WithoutScore(all, measure);
    return missing.empty() ? "" : fmt::format("No point has a result to compare by {}: {}", measure.title, missing);
  }
  if (!parts.question.has_best && with_value.size() > 1) return OfRandomActions(parts, with_value, measure);
  const bool selects = !parts.spec.selections.empty();
  std::vector<ExcludedPoint> excluded;
  BestPoint(parts, all, measure, &excluded);
  const std::optional<size_t> best = BestOfGroup(parts, group);
  const std::string left_out = NotConsidered(parts, group, measure, excluded);
  if (!best || !parts.scoring.Value(*best, measure))
    return fmt::format("No point {} by {}{}", selects ? "was selected" : "can be the best", measure.title,
                       left_out.empty() ? "" : ": " + left_out);
  if (all.size() == excluded.size() + 1 && !left_out.empty()) {
    const std::string& name = parts.points[*best].name;
    const std::string score = fmt::format("{} {}", measure.title, value_of(*best));
    return OthersDiverged(parts, excluded, measure)
               ? fmt::format("{} wins by default, as the only point without diverged runs ({}, {} seeds): no margin to {}",
                             name, score, parts.scoring.Scores(*best, measure).values.size(), left_out)
               : fmt::format("No comparison: only {} has all its scores ({}); not considered: {}", name, score, left_out);
  }
  const char* const open = selects ? "was selected by" : "leads by";
  const char* const how = FindRivals(parts, *best, measure).AnyOpen() ? open : "has the best";
  return fmt::format("{} {} {}: {}{}{}", parts.points[*best].name, how, measure.title, value_of(*best),
                     RivalsOf(parts, *best, measure), left_out.empty() ? "" : "; not considered: " + left_out);
}

// The scores of a point: "seeds", of a single run "episodes" or "iterations".
std::string SampleOf(const ComparisonParts& parts, const MeasureSpec& measure) {
  for (size_t i = 0; i < parts.points.size(); ++i)
    if (const std::optional<Number> value = parts.scoring.Value(i, measure); value && value->low) return value->of;
  return "seeds";
}

// Explains the marks of the sentences.
std::string Legend(const ComparisonParts& parts, const Answer& answer) {
  const MeasureSpec& measure = *parts.question.measure;
  std::vector<std::string> marks;
  if (answer.text.find(" ± ") != std::string::npos) {
    const std::string of = SampleOf(parts, measure);
    marks.push_back(fmt::format("± is a 95 % interval over {}", of == "seeds" ? of : "the " + of + " of one run"));
  }
  if (measure.direction != 0 && parts.points.size() > 1)
    marks.push_back(measure.direction > 0 ? "higher is better" : "lower is better");
  if (answer.has_diverged) marks.push_back("a diverged run counts as the worst score seen");
  if (answer.has_verdicts) marks.push_back("at most 5 % of reports have a wrong verdict");
  if (marks.empty()) return "";
  std::string legend = fmt::format("{}", fmt::join(marks, "; "));
  legend[0] = static_cast<char>(std::toupper(static_cast<unsigned char>(legend[0])));
  return " " + legend + ".";
}

}  // namespace

std::string ExcludedText(const ComparisonParts& parts, const std::vector<ExcludedPoint>& excluded) {
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(kNamed, excluded.size()); ++i)
    named.push_back(fmt::format("{} ({})", parts.points[excluded[i].point].name, excluded[i].why));
  if (excluded.size() > kNamed) named.push_back(fmt::format("{} more (see the remarks)", excluded.size() - kNamed));
  return fmt::format("{}", fmt::join(named, ", "));
}

namespace {

// "a", "a and b", "a, b and c"
std::string Listed(const std::vector<std::string>& names) {
  const auto last = std::prev(names.end());
  const std::string rest = fmt::format("{}", fmt::join(names.begin(), last, ", "));
  return rest.empty() ? *last : rest + " and " + *last;
}

}  // namespace

std::string RivalsOf(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure) {
  const Rivals rivals = FindRivals(parts, chosen, measure);
  const auto& [alike, worse, unknown, fewest, most] = rivals;
  const auto with_value = [&](size_t point) {
    return fmt::format("{} ({})", parts.points[point].name, WithUnit(*parts.scoring.Value(point, measure), measure));
  };
  if (!rivals.AreJudged() && unknown.empty()) return "";
  if (!rivals.AreJudged()) {
    size_t seeds = fewest;
    for (const size_t point : unknown) seeds = std::min(seeds, parts.scoring.Scores(point, measure).values.size());
    return fmt::format("; the next is {}, but {} per point cannot show which is better", with_value(unknown[0]),
                       seeds == 1 ? "one seed" : fmt::format("{} seeds", seeds));
  }
  std::string text;
  if (alike.empty()) {
    text = fmt::format("; shown to be better than {}{}{}", with_value(worse[0]), LeadOver(parts, chosen, worse[0], measure),
                       worse.size() == 1 ? "" : " and than all below it");
  } else {
    const size_t named = std::min(kNamed, alike.size());
    std::vector<std::string> names;
    for (size_t i = 0; i < named; ++i) names.push_back(with_value(alike[i]));
    const std::string lead = LeadOver(parts, chosen, alike[0], measure);
    const double ahead = parts.scoring.Value(chosen, measure)->value - parts.scoring.Value(alike[0], measure)->value;
    const bool is_behind = measure.direction < 0 ? ahead <= 0 : ahead >= 0;
    if (!lead.empty()) names[0].insert(names[0].size() - 1, (is_behind ? ", behind" : ", ahead") + lead);
    if (alike.size() > named) names.push_back(fmt::format("{} more", alike.size() - named));
    text = fmt::format("; not shown to be better than {}", Listed(names));
    if (!worse.empty())
      text += fmt::format(", but better than {}",
                          worse.size() == 1 ? parts.points[worse[0]].name : fmt::format("{} others", worse.size()));
  }
  text += fmt::format("; {} seeds{} each", fewest, most > fewest ? " or more" : "");
  if (unknown.empty()) return text;
  return text + fmt::format("; too few seeds for a comparison with {}",
                            unknown.size() == 1 ? parts.points[unknown[0]].name : fmt::format("{} more", unknown.size()));
}

std::string ComparisonHeadline(const ComparisonParts& parts) {
  const std::optional<MeasureSpec>& measure = parts.question.measure;
  Answer all;
  for (size_t group = 0; measure && group < parts.choices.size(); ++group) {
    const std::optional<size_t> baseline = parts.choices[group].baseline;
    Answer answer = baseline ? Against(parts, *baseline, *measure) : Answer{};
    if (answer.text.empty()) answer.text = Best(parts, group, *measure);
    if (answer.text.empty()) continue;
    all.text += (all.text.empty() ? "" : " ") + answer.text + (answer.text.ends_with('.') ? "" : ".");
    all.has_verdicts |= answer.has_verdicts, all.has_diverged |= answer.has_diverged;
  }
  return all.text.empty() ? "No point has a result to compare." : all.text + Legend(parts, all);
}

}  // namespace backplane
