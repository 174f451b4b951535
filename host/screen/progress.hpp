// The live line of a running trial: redrawn on a terminal, a plain line now and then elsewhere.
#pragma once

#include <cstdio>
#include <optional>
#include <string>
#include <vector>

#include "base/screen.hpp"
#include "contract/experiment.hpp"
#include "record/status_file.hpp"

namespace backplane {

// A measure that is shown while a trial runs.
struct LiveValue {
  std::string name;             // "ep/length"
  std::optional<double> value;  // finite
  bool asked = true;            // by output.live; other columns are dropped first if there is no room
};
std::vector<LiveValue> LiveOf(const StatusFile& status);
// "0.91", "40 (target 90)" if below its target, "" without a value.
std::string LiveText(const LiveValue& value);
// "length": the last part, or the whole name where two of `all` end alike, or it ends in `return`.
std::string LiveHeading(const std::string& name, const std::vector<LiveValue>& all);

// "learn  iteration 12/73  49,152/300,000 steps  16 %  12,345 steps/s  return 812.4  0:12, about 1:03 left"; columns of
// output.live follow the percentage. Columns that do not fit into `width` are dropped: first the steps, then iteration, speed,
// output.live, the return, and last the time.
std::string FormatProgress(const StatusFile& status, const BudgetConfig& budget, double elapsed_s, std::optional<double> left_s,
                           int width);
// Notes during a run: wrapped between words on a terminal, otherwise with the time of day.
std::string NoteLines(const std::string& text, const Screen& screen);
std::string TimeOfDay();                  // "14:02:33", here
std::string FormatClock(double seconds);  // "0:12", "1:02:03"

class Progress {
 public:
  Progress(std::FILE* stream, const Screen& screen, const BudgetConfig& budget);
  ~Progress() { Clear(); }

  void Update(const StatusFile& status, double elapsed_s);
  void Note(const std::string& text);  // a whole line, above the live one
  void Clear();                        // takes the live line away

 private:
  std::optional<double> Left(const StatusFile& status, double elapsed_s);

  std::FILE* stream_;
  Screen screen_;
  BudgetConfig budget_;
  bool drawn_ = false;
  double next_plain_s_ = 0;
  std::optional<double> first_progress_, first_elapsed_s_;  // after a resume the trial does not start at 0
};

}  // namespace backplane
