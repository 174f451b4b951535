#include "commands/screen_text.hpp"

#include <fmt/format.h>

#include "base/colour.hpp"
#include "record/trial_state.hpp"
#include "text/text_table.hpp"

namespace backplane {
namespace {

constexpr size_t kShownRows = 40;

// After the layout, because an escape has no width.
std::string WithTones(std::string text) {
  for (const TrialState state : {TrialState::kCompleted, TrialState::kPruned, TrialState::kInfeasible, TrialState::kFailed,
                                 TrialState::kSkipped, TrialState::kPlanned}) {
    const Tone tone = state == TrialState::kFailed       ? Tone::kBad
                      : state == TrialState::kInfeasible ? Tone::kWarning
                      : IsFinished(state)                ? Tone::kGood
                                                         : Tone::kFaint;
    const std::string word = Word(state), toned = Toned(word, tone);
    for (size_t at = 0; (at = text.find(word, at)) != std::string::npos; at += toned.size())
      text.replace(at, word.size(), toned);
  }
  return text;
}

}  // namespace

std::string ScreenText(Table table, size_t width, bool colour) {
  table.title.clear();
  table.notes.clear();
  if (table.rows.size() > kShownRows) {
    table.notes.push_back(fmt::format("And {} more rows.", table.rows.size() - kShownRows));
    table.rows.resize(kShownRows);
    std::erase_if(table.emphasised, [](size_t row) { return row >= kShownRows; });
  }
  const std::string text = FormatScreenTable(std::move(table), width);
  return colour ? WithTones(text) : text;
}

}  // namespace backplane
