// Shows a running batch: a line for a single trial or a table, progress.json, and the page. It reads the files of the batch, as
// `status` and `watch` do, so all three show the same.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "contract/experiment.hpp"
#include "record/status_file.hpp"
#include "screen/batch_view.hpp"
#include "screen/live_page.hpp"
#include "screen/progress.hpp"
#include "screen/watch_screen.hpp"
#include "store/progress_file.hpp"

namespace backplane {

struct DisplayedBatch {
  std::filesystem::path out;
  Experiment experiment;
  bool several = false;                  // more than one trial, shown as a table
  bool quiet = false;                    // prints nothing to stderr
  std::filesystem::path report_program;  // writes the page; empty: no page
  std::string typed_program;             // how users type the name of this program
};

class BatchDisplay {
 public:
  explicit BatchDisplay(const DisplayedBatch& batch);

  // To be called when the batch's files exist, before the first trial starts. Never throws.
  void Begin();
  // Print lines to stderr and to the session's log. Details go only to the log, unless --verbose is given.
  void Note(const std::string& sentence);
  void Detail(const std::string& sentence);
  // Updates the screen at most five times a second and the file once a second, or both now if `always`. `running` is the status
  // of the only running trial; NULL if several run, or none. Never throws.
  void Show(const StatusFile* running, double elapsed_s, bool always = false);
  void Clear();  // removes the live lines and ends the process that writes the page

 private:
  void Show(const std::string& sentence);
  void Refresh();
  void NoteExpectedTime();  // once, as soon as there is evidence

  std::filesystem::path out_;
  std::string experiment_;
  bool quiet_, table_;  // table_: more than one trial
  ProgressFile file_;
  std::unique_ptr<BatchView> view_;
  std::optional<Progress> line_;
  std::optional<BatchScreen> screen_;
  std::optional<LivePage> page_;
  double next_file_s_ = 0;
  bool complained_ = false, noted_time_ = false;
};

}  // namespace backplane
