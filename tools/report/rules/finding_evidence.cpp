#include "rules/finding_evidence.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "statistics/welch_verdict.hpp"
#include "text/number.hpp"

namespace backplane {
namespace {

constexpr double kClearPct = 5;  // for two numbers without intervals

// The measure that the finding is to improve, over the seeds of a point.
std::optional<Number> Moved(const Case& c, const std::string& measure) {
  if (measure == "efficiency_pct") {
    return c.setting && c.setting->efficiency_pct ? std::optional(Number{.value = *c.setting->efficiency_pct}) : std::nullopt;
  }
  // Intervals over two or three seeds are useless; for speeds, all settings share one spread (decision 27).
  if (measure == "SPS" && c.setting) return c.setting->sps;
  std::vector<Number> seeds;
  for (const TrialData* trial : c.trials) {
    const Number* number = trial->Find(measure);
    if (number && std::isfinite(number->value)) seeds.push_back(*number);
  }
  std::optional<Number> mean = OverSeeds(seeds);
  if (seeds.size() > 1 && seeds.size() < statistics::kLeastToJudge) mean->low = mean->high = std::nullopt;
  return mean;
}

bool IsBetter(const Number& a, const Number& b, int direction) {
  if (a.low && a.high && b.low && b.high) return direction > 0 ? *a.low > *b.high : *a.high < *b.low;
  return direction * (a.value - b.value) > kClearPct / 100 * std::abs(b.value);
}

// Position of a value along the change, from 0 (before) to 1 (after). Absent if they are not on one line.
std::optional<double> Along(const Fix& fix, const nlohmann::json& value) {
  if (value == fix.to) return 1;
  if (!fix.from.is_number() || !fix.to.is_number() || !value.is_number()) return std::nullopt;
  return (value.get<double>() - fix.from.get<double>()) / (fix.to.get<double>() - fix.from.get<double>());
}

void AddProof(const Case& tried, const Fix& fix, const std::optional<Number>& own, const std::optional<Number>& its,
              Finding* finding) {
  const std::string value = fmt::format("{} {}", fix.path, tried.At(fix.path).dump());
  finding->effect += fmt::format("; {} of this batch has {}", tried.name, value);
  if (!own || !its) return;
  finding->effect += fmt::format(", and {} {:.4g} instead of {:.4g}", finding->moves, its->value, own->value);
  finding->evidence.push_back({finding->moves, its->value, {}, "", fmt::format("{}, with {}", tried.name, value)});
}

enum class Proof { kNone, kHasIt, kRefuted };

// The nearest point in the direction of the change counts as a test of it; a better point in the other direction refutes it.
Proof ProofOf(const Case& c, const Fix& fix, Finding* finding) {
  const std::optional<Number> own = Moved(c, finding->moves);
  const Case* nearest = nullptr;
  double steps = 0;
  bool refuted = false;
  const std::vector<Case> others = c.Neighbours(fix.path);
  for (const Case& other : others) {
    const std::optional<double> along = Along(fix, other.At(fix.path));
    if (!along) continue;
    const std::optional<Number> its = Moved(other, finding->moves);
    if (*along < 0) refuted |= own && its && IsBetter(*its, *own, finding->direction);
    if (*along > 0 && (!nearest || *along < steps)) nearest = &other, steps = *along;
  }
  if (!nearest) return refuted ? Proof::kRefuted : Proof::kNone;
  const std::optional<Number> its = Moved(*nearest, finding->moves);
  if (own && its && !IsBetter(*its, *own, finding->direction)) return Proof::kRefuted;
  AddProof(*nearest, fix, own, its, finding);
  return Proof::kHasIt;
}

}  // namespace

bool AskTheBatch(const Case& c, Finding* finding) {
  const size_t proposed = finding->fixes.size();
  bool named = false;
  std::erase_if(finding->fixes, [&](const Fix& fix) {
    const Proof proof = fix.swept ? ProofOf(c, fix, finding) : Proof::kNone;
    named |= proof == Proof::kHasIt;
    return proof != Proof::kNone;
  });
  if (proposed == 0 || !finding->fixes.empty() || finding->severity == Severity::kSerious) return true;
  // The batch already contains the better setting.
  finding->severity = Severity::kInfo;
  return named;
}

}  // namespace backplane
