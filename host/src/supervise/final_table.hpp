// What a batch ends with on the screen: a line for each trial.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "supervise/progress.hpp"
#include "supervise/result.hpp"

namespace backplane {

struct FinalRow {
  std::string name, state;
  std::string note;                   // instead of numbers; empty: there are numbers, or nothing to say
  std::optional<TrialResult> result;  // of a trial with numbers
  std::vector<LiveValue> live = {};   // of output.live, in its order
};

// What the trial measured last under each name: in training, in its evaluation ("eval/NAME"), or recorded by a plugin, which
// stands in `attempt_dir`/metrics.jsonl.
std::vector<LiveValue> LastValues(const std::vector<std::string>& names, const std::filesystem::path& attempt_dir);

// Lines that end with a line feed, the first one a heading. Where `width` is given no line is wider: names are cut, and columns
// left out, what nobody asked for first, then those of output.live from the right.
std::string FormatFinalTable(const std::vector<FinalRow>& rows, std::optional<size_t> width, bool utf8);

}  // namespace backplane
