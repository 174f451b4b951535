// The screen of a running batch: a block redrawn in place on a terminal, whole lines elsewhere.
#pragma once

#include <cstdio>
#include <string>
#include <vector>

#include "screen/status_table.hpp"

namespace backplane {

// Without a terminal: a line for each trial that started or ended, for a search's new best, and the totals every 30 s. One
// thread.
class BatchScreen {
 public:
  BatchScreen(std::FILE* stream, const Screen& screen) : stream_(stream), screen_(screen) {}
  ~BatchScreen() { Clear(); }
  BatchScreen(const BatchScreen&) = delete;

  // Five times a second is enough: making the rows of thousands of trials costs more than drawing them.
  bool Due(double elapsed_s) const { return elapsed_s >= next_s_; }
  // Trials that ended before are not announced.
  void BeginWith(const std::vector<BatchRow>& rows);
  // Draws whether due or not. Rows keep their order from call to call; totals.elapsed_s is the clock.
  void Update(const std::vector<BatchRow>& rows, const BatchTotals& totals);
  void Note(const std::string& text);  // a whole line, above the block
  void Clear();                        // takes the block away
  void Leave();                        // the block stays as it is, later output comes below

 private:
  void Draw(const std::string& block);
  void PrintChanges(const std::vector<BatchRow>& rows, const BatchTotals& totals);

  std::FILE* stream_;
  Screen screen_;
  std::string block_;
  size_t lines_ = 0;  // drawn above the cursor
  double next_s_ = 0, next_totals_s_ = 0;
  std::string best_;                // as it was printed last
  std::vector<TrialState> states_;  // of the rows, as they were printed last
};

}  // namespace backplane
