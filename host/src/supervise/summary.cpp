#include "supervise/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "supervise/progress.hpp"

namespace backplane {
namespace {

std::string Format(const Spread& spread) {
  std::string text = fmt::format("{:.4g}", spread.mean);
  if (spread.se) {
    text += fmt::format(" ± {:.3g}", *spread.se);
  }
  return spread.n > 0 ? text + fmt::format(" (n {})", spread.n) : text;
}

std::string Count(const std::optional<double>& value) {
  return value && *value >= 0 ? FormatCount(static_cast<uint64_t>(*value + 0.5)) : "-";
}

// Columns count characters, not bytes: "±" is two bytes.
std::string Pad(const std::string& text, size_t width) {
  const auto seen = static_cast<size_t>(std::count_if(text.begin(), text.end(), [](char c) { return (c & 0xC0) != 0x80; }));
  return text + std::string(seen < width ? width - seen : 1, ' ');
}

std::string Speed(const TrialResult& result) {
  std::string text = fmt::format("  {} iterations, {} env steps, {} episodes", Count(result.iterations),
                                 Count(result.env_steps), Count(result.episodes));
  if (result.wall_s) {
    text += " in " + FormatClock(result.trial_s.value_or(*result.wall_s));
    if (result.trial_s && *result.trial_s > *result.wall_s + 1) {
      text += fmt::format(", {} of them in this attempt", FormatClock(*result.wall_s));
    }
  }
  text += "\n";
  if (result.sps) {
    text += fmt::format("  {} steps/s with learning", Count(result.sps));
    text += result.sampling_sps ? fmt::format(", {} steps/s collecting\n", Count(result.sampling_sps)) : "\n";
  }
  return text;
}

// Evaluation and floors were measured on the same seeds; without an evaluation the training episodes stand in.
std::string Returns(const TrialResult& result) {
  const Measured& learned = result.evaluation ? *result.evaluation : result.training;
  const auto line = [](const std::string& name, const std::string& a, const std::string& b, const std::string& c) {
    const std::string text = "  " + Pad(name, 22) + Pad(a, 26) + Pad(b, 26) + c;
    return text.substr(0, text.find_last_not_of(' ') + 1) + "\n";
  };
  const auto returns = [](const Measured& side) { return side.episode_return; };
  const auto metric = [](const std::string& name) {
    return [name](const Measured& side) {
      const auto found = side.metrics.find(name);
      return found != side.metrics.end() ? std::optional(found->second) : std::nullopt;
    };
  };
  const auto row = [&](const std::string& name, const auto& pick) {
    const auto cell = [&](const std::optional<Measured>& side) {
      const std::optional<Spread> spread = side ? pick(*side) : std::nullopt;
      return spread ? Format(*spread) : "";
    };
    return line(name, cell(learned), cell(result.floor_zero), cell(result.floor_uniform));
  };
  std::string rows = learned.episode_return ? row("return", returns) : "";
  for (const auto& [name, spread] : learned.metrics) {
    rows += name.starts_with("ep/") ? row(name, metric(name)) : "";
  }
  if (rows.empty()) {
    return "";
  }
  return "\n" +
         line("mean ± its s.e.", result.evaluation ? "learned (evaluation)" : "learned (training)",
              result.floor_zero ? "floor (zero actions)" : "", result.floor_uniform ? "floor (uniform)" : "") +
         rows;
}

// Rounds to tenths so that the printed column sums to exactly 100.0: the largest remainders are rounded up.
std::vector<int> Tenths(const std::vector<PhaseShare>& phases) {
  std::vector<int> tenths;
  std::vector<std::pair<double, size_t>> remainders;
  double total = 0;
  for (const PhaseShare& phase : phases) {
    total += phase.share;
  }
  int sum = 0;
  for (size_t i = 0; i < phases.size(); ++i) {
    const double exact = total > 0 ? phases[i].share / total * 1000 : 0;
    tenths.push_back(static_cast<int>(std::floor(exact)));
    remainders.emplace_back(exact - std::floor(exact), i);
    sum += tenths.back();
  }
  std::sort(remainders.rbegin(), remainders.rend());
  for (size_t i = 0; total > 0 && sum < 1000 && i < remainders.size(); ++i, ++sum) {
    ++tenths[remainders[i].second];
  }
  return tenths;
}

std::string Phases(const TrialResult& result) {
  std::vector<PhaseShare> phases = result.phases;
  double named = 0;
  for (const PhaseShare& phase : phases) {
    named += phase.share;
  }
  const bool listed = std::any_of(phases.begin(), phases.end(), [](const PhaseShare& p) { return p.name == "unnamed"; });
  if (phases.empty() || named <= 0) {
    return "";
  }
  if (result.unnamed_share && !listed && named + *result.unnamed_share <= 1.0 + 1e-6) {
    const double seconds = result.wall_s.value_or(0) * *result.unnamed_share;
    phases.push_back({"unnamed", seconds, *result.unnamed_share});
  }
  std::stable_sort(phases.begin(), phases.end(), [](const PhaseShare& a, const PhaseShare& b) { return a.share > b.share; });
  const std::vector<int> tenths = Tenths(phases);
  std::string text = "\n  where the time went\n";
  for (size_t i = 0; i < phases.size(); ++i) {
    text += fmt::format("    {:<24}{:>8.1f} s{:>8.1f} %\n", phases[i].name, phases[i].seconds, tenths[i] / 10.0);
  }
  return text;
}

std::string Places(const SummaryContext& context) {
  std::string text = "\n  results      " + context.attempt_dir.string() + "\n";
  for (size_t i = 0; i < context.next.size(); ++i) {
    text += (i == 0 ? "  next         " : "               ") + context.next[i] + "\n";
  }
  return text;
}

}  // namespace

std::string FormatSummary(const TrialResult& result, const SummaryContext& context) {
  return fmt::format("{}: {} (trial {})\n", context.title, result.state, result.trial_id) + Speed(result) + Returns(result) +
         Phases(result) + Places(context);
}

std::string FormatFailure(const TrialResult& result, const SummaryContext& context) {
  std::string text = fmt::format("{}: {} ({}), trial {}\n", context.title, result.state, result.outcome, result.trial_id);
  const std::pair<const char*, std::string> rows[] = {{"why", result.error.value_or("")},
                                                      {"signal", result.signal},
                                                      {"last phase", result.phase},
                                                      {"last plugin", result.plugin}};
  for (const auto& [name, value] : rows) {
    text += value.empty() ? "" : fmt::format("  {:<13}{}\n", name, value);
  }
  for (size_t i = 0; i < result.log_tail.size(); ++i) {
    text += fmt::format("  {:<13}{}\n", i == 0 ? "last lines" : "", result.log_tail[i]);
  }
  return text + Places(context);
}

}  // namespace backplane
