#include "screen/summary.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>
#include <sstream>

#include "base/format_count.hpp"
#include "base/printable.hpp"
#include "base/text_columns.hpp"
#include "record/stacks.hpp"
#include "screen/progress.hpp"
#include "text/format_number.hpp"

namespace backplane {
namespace {

const char* const kReturn = "return";
constexpr int kDigits = 4;  // as in reports

std::string Format(const Spread& spread, bool with_n) {
  const uint64_t n = spread.n.value_or(0);
  const bool known = spread.se && !std::isnan(*spread.se);
  const std::optional<double> sd = known ? std::optional(*spread.se * std::sqrt(static_cast<double>(n))) : std::nullopt;
  const std::string text = FormatNumber(MeanOf(*spread.mean, sd, n, ""), kDigits);
  return with_n && n > 0 ? text + fmt::format(" (n {})", n) : text;
}

std::string Count(const std::optional<double>& value) {
  return value && *value >= 0 ? FormatCount(static_cast<uint64_t>(std::llround(*value))) : "-";
}

std::string Speed(const TrialResult& result, size_t width) {
  const std::optional<double> epochs = result.data ? std::optional(result.data->epochs) : std::nullopt;
  std::string text = fmt::format("  {} iterations, ", Count(result.iterations));
  text += epochs ? fmt::format("{} items, {:.3g} epochs", Count(result.env_steps), *epochs)
                 : fmt::format("{} env steps, {} episodes", Count(result.env_steps), Count(result.episodes));
  if (result.wall_s) {
    text += " in " + FormatClock(result.trial_s.value_or(*result.wall_s));
    if (result.trial_s && *result.trial_s > *result.wall_s + 1) {
      const std::string part = fmt::format("{} of it in this attempt", FormatClock(*result.wall_s));
      text += text.size() + 2 + part.size() <= width ? ", " + part : "\n  (" + part + ")";
    }
  }
  text += "\n";
  if (result.until) text += "  " + result.until->Sentence() + "\n";
  if (result.sps) {
    text += fmt::format("  {} {}/s with learning", Count(result.sps), epochs ? "items" : "steps");
    text += result.sampling_sps && !epochs ? fmt::format(", {} steps/s collecting\n", Count(result.sampling_sps)) : "\n";
  }
  return text;
}

// One side of the comparison: its heading, then a cell for each name, "" where it did not measure that; the last is the number
// of episodes.
struct Side {
  std::string heading;
  std::vector<std::string> cells;
};

// NULL: it was not measured, or is no number.
const Spread* Find(const EpisodeMeans& measured, const std::string& name) {
  const auto found = measured.metrics.find(name);
  const Spread* const spread = name == kReturn ? (measured.episode_return ? &*measured.episode_return : nullptr)
                               : found != measured.metrics.end() ? &found->second
                                                                 : nullptr;
  return spread && spread->mean && !std::isnan(*spread->mean) ? spread : nullptr;
}

// The number of episodes per cell: one line below if all are equal, which only rare metrics are not.
Side MakeSide(const std::string& heading, const EpisodeMeans& measured, const std::vector<std::string>& names) {
  std::set<uint64_t> counts;
  for (const std::string& name : names) {
    if (const Spread* spread = Find(measured, name)) counts.insert(spread->n.value_or(0));
  }
  Side side{heading, {}};
  for (const std::string& name : names) {
    const Spread* spread = Find(measured, name);
    side.cells.push_back(spread ? Format(*spread, counts.size() > 1) : "");
  }
  side.cells.push_back(counts.size() == 1 && *counts.begin() > 0 ? std::to_string(*counts.begin()) : "");
  return side;
}

size_t Widest(const std::vector<std::string>& texts, size_t at_least) {
  for (const std::string& text : texts) {
    at_least = std::max(at_least, Columns(text));
  }
  return at_least;
}

// Columns that do not fit next to the others follow below them, with the names again.
std::string Beside(std::vector<std::string> names, const std::vector<Side>& sides, size_t screen) {
  if (std::any_of(sides.begin(), sides.end(), [](const Side& side) { return !side.cells.back().empty(); })) {
    names.emplace_back("episodes");
  }
  const std::string corner = "mean ± 95 %";
  for (std::string& name : names) name = Printable(name);
  const size_t first = Widest(names, Columns(corner));
  std::string text;
  for (size_t begin = 0; begin < sides.size();) {
    std::vector<std::string> lines = {"  " + PadRight(corner, first)};
    for (const std::string& name : names) {
      lines.push_back("  " + PadRight(name, first));
    }
    size_t end = begin;
    for (; end < sides.size(); ++end) {
      const size_t width = Widest(sides[end].cells, Columns(sides[end].heading));
      if (end > begin && Columns(lines[0]) + 2 + width > screen) {
        break;
      }
      lines[0] += "  " + PadRight(sides[end].heading, width);
      for (size_t i = 0; i < names.size(); ++i) {
        lines[i + 1] += "  " + PadRight(sides[end].cells[i], width);
      }
    }
    text += "\n";
    for (const std::string& line : lines) {
      text += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    }
    begin = end;
  }
  return text;
}

// Evaluation and floors were measured on the same seeds; without an evaluation the training episodes stand in.
std::string Returns(const TrialResult& result, size_t width) {
  const EpisodeMeans& learned = result.evaluation ? *result.evaluation : result.training;
  std::vector<std::string> names;
  if (Find(learned, kReturn)) names.emplace_back(kReturn);
  for (const auto& [name, spread] : learned.metrics) {
    if (name.starts_with("ep/") && Find(learned, name)) names.push_back(name);
  }
  if (names.empty()) {
    return "";
  }
  std::vector<Side> sides = {MakeSide(result.evaluation ? "learned (evaluation)" : "learned (training)", learned, names)};
  if (result.floor_zero) {
    sides.push_back(MakeSide("floor (zero)", *result.floor_zero, names));
  }
  if (result.floor_uniform) {
    sides.push_back(MakeSide("floor (uniform)", *result.floor_uniform, names));
  }
  return Beside(names, sides, width);
}

// Rounds to tenths so that the printed column sums to exactly 100.0: the largest remainders are rounded up.
std::vector<int> Tenths(const std::vector<PhaseTime>& phases) {
  std::vector<int> tenths;
  std::vector<std::pair<double, size_t>> remainders;
  double total = 0;
  for (const PhaseTime& phase : phases) {
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

std::string Phases(const TrialResult& result, size_t width) {
  std::vector<PhaseTime> phases = result.phases;
  double named = 0;
  for (const PhaseTime& phase : phases) {
    named += phase.share;
  }
  const bool listed = std::any_of(phases.begin(), phases.end(), [](const PhaseTime& p) { return p.name == "unnamed"; });
  if (phases.empty() || named <= 0) {
    return "";
  }
  if (result.unnamed_share && !listed && named + *result.unnamed_share <= 1.0 + 1e-6) {
    const double seconds = result.wall_s.value_or(0) * *result.unnamed_share;
    phases.push_back({"unnamed", seconds, *result.unnamed_share});
  }
  std::stable_sort(phases.begin(), phases.end(), [](const PhaseTime& a, const PhaseTime& b) { return a.share > b.share; });
  const std::vector<int> tenths = Tenths(phases);
  size_t name = width >= 48 ? 24 : 0;
  for (const PhaseTime& phase : phases) name = std::max(name, phase.name.size());
  std::string text = "\n" + WrapAfter("  ", "  ", "time per phase, in seconds of all threads together", width - 2);
  for (size_t i = 0; i < phases.size(); ++i) {
    text += fmt::format("    {:<{}}{:>8.1f} s{:>8.1f} %\n", phases[i].name, name, phases[i].seconds, tenths[i] / 10.0);
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

constexpr size_t kLabel = 15;  // columns of a label

// Nothing without lines.
std::string Row(const std::string& label, const std::vector<std::string>& lines) {
  std::string text;
  for (const std::string& line : lines) {
    text += PadRight(text.empty() ? "  " + label : "", kLabel) + line + "\n";
  }
  return text;
}

// The record has all threads.
std::vector<std::string> InnermostCalls(const TrialResult& result) {
  constexpr size_t kMost = 5;
  std::vector<std::string> calls;
  for (const std::string& line : StackOf(result.stacks, result.plugin))
    if (line.starts_with(' ') && calls.size() < kMost) calls.push_back(Printable(line.substr(2)));
  return calls;
}

}  // namespace

const char* SummaryState(const TrialResult& result) {
  return result.state == TrialState::kKilled ? "stopped, the same command resumes" : Word(result.state);
}

std::string FormatSummary(const TrialResult& result, const SummaryContext& context) {
  const std::string state = SummaryState(result);
  const size_t width = context.width;
  std::string speed;  // its own lines are sentences
  std::istringstream lines(Speed(result, width));
  for (std::string line; std::getline(lines, line);) speed += WrapAfter("  ", "    ", line.substr(2), width - 4);
  return WrapAfter("", "  ", fmt::format("{}: {} (trial {})", context.title, state, result.trial_id), width - 2) + speed +
         Returns(result, width) + Phases(result, width) + Places(context);
}

std::string FormatFailure(const TrialResult& result, const SummaryContext& context) {
  std::string text =
      fmt::format("{}: {} ({}), trial {}\n", context.title, Word(result.state), Word(result.outcome), result.trial_id);
  const std::vector<std::string> why = PrintableLines(result.error.value_or(""));
  // The terminal breaks these lines, because our breaks would cut paths that you copy.
  text += Row("why", why);
  for (const auto& [label, words] : {std::pair("signal", result.signal.value_or("")), std::pair("last phase", result.phase),
                                     std::pair("last plugin", result.plugin)}) {
    if (!words.empty()) text += Row(label, {Printable(words)});
  }
  // The reason is often at the end of the log, and then it is printed only once.
  std::vector<std::string> said;
  for (const std::string& line : result.log_tail) {
    const auto says_it = [&](const std::string& known) { return known.ends_with(Printable(line)); };
    if (std::none_of(why.begin(), why.end(), says_it)) said.push_back(Printable(line));
  }
  return text + Row("was in", InnermostCalls(result)) + Row("last lines", said) + Places(context);
}

}  // namespace backplane
