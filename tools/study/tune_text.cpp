#include "study/tune_text.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "base/text_columns.hpp"
#include "text/change_arguments.hpp"
#include "text/format_number.hpp"
#include "text/text_table.hpp"

namespace backplane {
namespace {

constexpr size_t kWidth = 100;

std::string Speed(const std::optional<double>& speed) { return speed ? FormatNumber(Reading(*speed), 4) : "-"; }

std::string Short(double value) { return FormatNumber(Reading(value), 4); }

// The first line starts with `first`, further lines are indented by two more spaces.
std::string Wrapped(const std::string& text, const std::string& first = "") {
  return WrapAfter(first, first + "  ", text, kWidth - first.size() - 2);
}

std::string VerdictText(const LearningCheck::Round& round) {
  switch (round.learned.verdict) {
    case statistics::Verdict::kOne:
    case statistics::Verdict::kTooFew: return "too few scores to compare";
    case statistics::Verdict::kUndefined: return "all scores of a side are equal, so the effect of chance is unknown";
    case statistics::Verdict::kNotShown: return "not shown to differ";
    default: return round.learned.is_worse ? "worse with the changes" : "better with the changes";
  }
}

std::string MeanText(const std::vector<double>& scores) {
  return scores.empty() ? "none" : FormatNumber(Mean(scores, "seeds"), 4);
}

std::string RoundText(const LearningCheck::Round& round) {
  const LearningScores& scores = round.scores;
  std::string text =
      fmt::format("learning, {} over {} and {} seeds: {} unchanged, {} tuned", scores.measure, scores.original.size(),
                  scores.tuned.size(), MeanText(scores.original), MeanText(scores.tuned));
  if (const auto& difference = round.learned.difference)
    text +=
        fmt::format("; difference {} ({} to {})", Short(difference->value), Short(difference->low), Short(difference->high));
  text += ": " + VerdictText(round);
  if (!scores.why_missing.empty()) text += "; " + scores.why_missing;
  return text;
}

// "1.95 to 2.24 times (95 % interval; estimate 2.09), measured together in the final check". The check measures SPS, and no
// step that it took back.
std::string GainedText(const Tuning& tuning, const LearningCheck* check, const std::string& measure) {
  const bool is_final = check && check->rounds.size() == 1 && !check->rounds.front().learned.is_worse && measure == "SPS";
  const std::optional<Gain> gain = is_final ? check->rounds.front().speed : std::nullopt;
  if (!gain)
    return fmt::format("{:.2f} times, the product of the kept changes, which were measured one by one", tuning.Gained());
  const std::string in_check = "measured together in the final check";
  if (!gain->interval) return fmt::format("{:.2f} times, {}", gain->ratio, in_check);
  return fmt::format("{:.2f} to {:.2f} times (95 % interval; estimate {:.2f}), {}", gain->interval->low, gain->interval->high,
                     gain->ratio, in_check);
}

}  // namespace

std::string GainText(const Gain& gain) {
  const std::string ratio = fmt::format("{:.2f}x", gain.ratio);
  return gain.interval ? fmt::format("{} ({:.2f} to {:.2f})", ratio, gain.interval->low, gain.interval->high) : ratio;
}

std::string DecisionText(const TuningStep& step) {
  std::string text = step.gain ? GainText(*step.gain) + ": " : "";
  text += fmt::format("{}, {}", step.kept ? "kept" : "dropped", step.why);
  return text + (step.busy ? "; other programs competed for the cores" : "");
}

std::string StepTable(const Tuning& tuning, const std::string& measure) {
  Table table{"steps", "Steps", {}, {}, {}, {}};
  table.columns = {{"change", "change", "", ""},
                   {"before", measure + " before", "", ""},
                   {"after", "after", "", ""},
                   {"gain", "gain (95 %)", "", ""},
                   {"kept", "kept", "", ""}};
  for (const TuningStep& step : tuning.steps) {
    if (step.kept) table.emphasised.push_back(table.rows.size());
    table.rows.push_back({ChangeText(step.change.fix), Speed(step.before), Speed(step.after),
                          step.gain ? GainText(*step.gain) : std::string("-"),
                          std::string(step.kept         ? "yes"
                                      : step.taken_back ? "taken back"
                                                        : "no")});
    if (!step.gain) table.notes.push_back(ChangeText(step.change.fix) + ": " + step.why);
  }
  if (std::any_of(tuning.steps.begin(), tuning.steps.end(), [](const TuningStep& step) { return step.busy; }))
    table.notes.push_back("Other programs competed for the cores in some of these measurements.");
  return table.rows.empty() ? "" : FormatTextTable(table, kWidth);
}

std::string OutcomeText(const Tuning& tuning, const LearningCheck* check, const std::string& measure, double budget_s) {
  std::string text;
  const size_t kept = tuning.Kept().size();
  if (kept == 0) {
    text += fmt::format(
        "{}: the experiment stays unchanged, with {} {}\n",
        tuning.steps.empty() ? "No change was tried"
        : std::any_of(tuning.steps.begin(), tuning.steps.end(), [](const TuningStep& step) { return step.taken_back; })
            ? "The faster changes made learning worse and were taken back"
            : "No change is shown to be faster",
        measure, Speed(tuning.speed));
  } else {
    text += Wrapped(fmt::format("{} with {}, compared with the unchanged experiment ({}): {}", measure,
                                kept == 1 ? "one kept change" : fmt::format("{} kept changes", kept), Speed(tuning.speed),
                                GainedText(tuning, check, measure)));
  }
  text += Wrapped(
      fmt::format("{} Measured for {:.0f} s, of a budget of {:.0f} s.", tuning.why_stopped, tuning.spent_s, budget_s), "  ");
  if (tuning.headroom && measure == "SPS") {
    text +=
        Wrapped(fmt::format("headroom of the updates: without updates, the SPS of the kept setting would be {} times as high",
                            FormatNumber(Reading(*tuning.headroom), 3)),
                "  ");
  }
  return text;
}

std::string CheckText(const LearningCheck& check) {
  if (!check.why_none.empty()) return check.why_none + "\n";
  std::string text;
  for (const LearningCheck::Round& round : check.rounds) {
    text += Wrapped(RoundText(round));
    if (round.learned.is_worse) text += "  so the last step that can affect learning is taken back\n";
  }
  return text;
}

std::vector<std::string> TunedComments(const Tuning& tuning, const LearningCheck* check, const std::string& experiment,
                                       const std::string& measure) {
  std::vector<std::string> lines = {
      fmt::format("{}, tuned for {}: {}, by", experiment, measure, GainedText(tuning, check, measure))};
  for (const TuningStep& step : tuning.steps) {
    if (step.kept) lines.push_back(fmt::format("  {}: {}", ChangeText(step.change.fix), GainText(*step.gain)));
  }
  if (!check) {
    lines.push_back("The effect on learning was not checked.");
  } else if (check->rounds.empty()) {
    lines.push_back(check->why_none);
  } else if (!check->rounds.back().learned.is_worse) {
    lines.push_back(RoundText(check->rounds.back()));
  } else {
    lines.push_back("Changes that made learning worse were taken back; the kept changes cannot affect learning.");
  }
  return lines;
}

}  // namespace backplane
