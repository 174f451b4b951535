#include "kinds/comparison_headline.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "statistics/welch_verdict.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

constexpr size_t kNamed = 4;  // more would be a table

const MeasureSpec* Judged(const ComparisonParts& parts) {
  if (!parts.spec.selections.empty()) return &parts.spec.selections.front().metric;
  // A path of the configuration is a column, too, and nothing that was measured.
  for (const MeasureSpec& column : parts.columns) {
    if (column.direction != 0) return &column;
  }
  return nullptr;
}

std::string WithUnit(const Number& number, const MeasureSpec& measure) {
  return FormatNumber(number, measure.digits) + (measure.unit.empty() ? "" : " " + measure.unit);
}

// "better, n = 5"; one seed is said by the verdict itself.
std::string VerdictWithN(const SeedScores& point, const SeedScores& base, int direction) {
  const size_t n = std::min(point.values.size(), base.values.size());
  return VerdictOf(point, base, direction) + (n > 1 ? fmt::format(", n = {}", n) : "");
}

// "+12.3 %", or the difference where the baseline is not above zero.
std::string Gain(const Number& value, const Number& base, const MeasureSpec& measure) {
  if (base.value <= 0) {
    const double difference = value.value - base.value;
    return (difference < 0 ? "" : "+") + WithUnit(Reading(difference), measure);
  }
  Number change = RatioOf(value, base, 100);
  for (double* part : {&change.value, change.low ? &*change.low : nullptr, change.high ? &*change.high : nullptr})
    if (part) *part -= 100;
  const bool of_seeds = value.of == "seeds" && base.of == "seeds";
  if (!of_seeds) change.low = change.high = std::nullopt;
  return (change.value < 0 ? "" : "+") + FormatNumber(change, 3) + " %";
}

std::string Against(const ComparisonParts& parts, size_t baseline, const MeasureSpec& measure) {
  std::vector<std::string> gains;
  size_t others = 0;
  const std::optional<Number> base = parts.scoring.Value(baseline, measure);
  const SeedScores of_base = parts.scoring.Scores(baseline, measure);
  for (size_t i = 0; i < parts.points.size(); ++i) {
    if (i == baseline || parts.points[i].group != parts.points[baseline].group) continue;
    const std::optional<Number> value = parts.scoring.Value(i, measure);
    if (!base || !value) continue;
    if (gains.size() == kNamed) {
      ++others;
      continue;
    }
    const SeedScores of_point = parts.scoring.Scores(i, measure);
    gains.push_back(fmt::format("{} {} ({})", parts.points[i].name, Gain(*value, *base, measure),
                                VerdictWithN(of_point, of_base, measure.direction)));
  }
  if (gains.empty()) return "";
  return fmt::format("{} against {} ({}): {}{}", measure.title, parts.points[baseline].name, WithUnit(*base, measure),
                     fmt::join(gains, "; "), others > 0 ? fmt::format("; and {} more", others) : "");
}

// The best eligible point by the measure's own direction. The others go to `excluded`.
std::optional<size_t> BestPoint(const ComparisonParts& parts, const std::vector<size_t>& with_value, const MeasureSpec& measure,
                                std::vector<ExcludedPoint>* excluded) {
  std::optional<size_t> best;
  double best_value = 0;
  for (const size_t i : with_value) {
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

std::string Best(const ComparisonParts& parts, size_t group, const MeasureSpec& measure) {
  std::vector<size_t> with_value;
  for (size_t i = 0; i < parts.points.size(); ++i) {
    const std::optional<Number> value =
        parts.points[i].group == group ? parts.scoring.Value(i, measure) : std::optional<Number>();
    if (value && std::isfinite(value->value)) with_value.push_back(i);
  }
  const auto value_of = [&](size_t point) { return WithUnit(*parts.scoring.Value(point, measure), measure); };
  if (with_value.size() == 1)
    return fmt::format("{}: {} {}", parts.points[with_value[0]].name, measure.title, value_of(with_value[0]));
  const bool selects = !parts.spec.selections.empty();
  std::vector<ExcludedPoint> excluded;
  const std::optional<size_t> best =
      selects ? parts.choices[group].chosen.front() : BestPoint(parts, with_value, measure, &excluded);
  if (!best && !excluded.empty())
    return fmt::format("No point can be the best by {}: {}", measure.title, ExcludedText(parts, excluded));
  if (!best || !parts.scoring.Value(*best, measure)) return "";
  return fmt::format("{} has the best {}: {}{}{}", parts.points[*best].name, measure.title, value_of(*best),
                     RivalsOf(parts, *best, measure),
                     excluded.empty() ? "" : "; not considered: " + ExcludedText(parts, excluded));
}

// Points of the same machine that the chosen one was compared with.
struct Rivals {
  std::vector<std::string> alike, unknown;  // not distinguishable; too few seeds
  size_t fewest = 0;                        // seeds of a point
  size_t judged = 0;
};

Rivals FindRivals(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure) {
  const SeedScores best = parts.scoring.Scores(chosen, measure);
  Rivals rivals;
  rivals.fewest = best.values.size();
  for (size_t i = 0; i < parts.points.size(); ++i) {
    if (i == chosen || parts.points[i].group != parts.points[chosen].group) continue;
    const SeedScores scores = parts.scoring.Scores(i, measure);
    if (scores.values.empty()) continue;
    rivals.fewest = std::min(rivals.fewest, scores.values.size());
    if (scores.incomplete || scores.missing > 0) continue;
    const statistics::Verdict verdict = statistics::Judge(best.values, scores.values);
    if (verdict == statistics::Verdict::kOne || verdict == statistics::Verdict::kTooFew) {
      rivals.unknown.push_back(parts.points[i].name);
      continue;
    }
    ++rivals.judged;
    if (verdict != statistics::Verdict::kMore && verdict != statistics::Verdict::kLess)
      rivals.alike.push_back(parts.points[i].name);
  }
  return rivals;
}

}  // namespace

std::string ExcludedText(const ComparisonParts& parts, const std::vector<ExcludedPoint>& excluded) {
  std::vector<std::string> named;
  for (size_t i = 0; i < std::min(kNamed, excluded.size()); ++i)
    named.push_back(fmt::format("{} ({})", parts.points[excluded[i].point].name, excluded[i].why));
  if (excluded.size() > kNamed) named.push_back(fmt::format("{} more (see the remarks)", excluded.size() - kNamed));
  return fmt::format("{}", fmt::join(named, ", "));
}

std::string RivalsOf(const ComparisonParts& parts, size_t chosen, const MeasureSpec& measure) {
  const auto [alike, unknown, fewest, judged] = FindRivals(parts, chosen, measure);
  if (judged == 0 && !unknown.empty())
    return fmt::format("; {} a point: too few to tell it from others",
                       fewest == 1 ? "one seed" : fmt::format("{} seeds", fewest));
  if (judged == 0 && unknown.empty()) return "";
  const std::string untold =
      unknown.size() > kNamed ? fmt::format("{} points", unknown.size()) : fmt::format("{}", fmt::join(unknown, ", "));
  const std::string rest =
      unknown.empty() ? fmt::format(" ({} seeds)", fewest) : fmt::format("; too few seeds to tell it from {}", untold);
  if (alike.empty())
    return fmt::format("; every {} is distinguishable from it{}", unknown.empty() ? "other point" : "point with enough seeds",
                       rest);
  const auto named = alike.begin() + static_cast<ptrdiff_t>(std::min(kNamed, alike.size()));
  return fmt::format("; not distinguishable from {}{}{}", fmt::join(alike.begin(), named, ", "),
                     named != alike.end() ? fmt::format(" and {} more", alike.end() - named) : "", rest);
}

std::string ComparisonHeadline(const ComparisonParts& parts) {
  const MeasureSpec* measure = Judged(parts);
  std::string text;
  for (size_t group = 0; measure != nullptr && group < parts.choices.size(); ++group) {
    const std::optional<size_t> baseline = parts.choices[group].baseline;
    const std::string against = baseline ? Against(parts, *baseline, *measure) : "";
    const std::string answer = against.empty() ? Best(parts, group, *measure) : against;
    if (!answer.empty()) text += (text.empty() ? "" : "; ") + answer;
  }
  return text.empty() ? "No point has a result to compare." : text + ".";
}

}  // namespace backplane
