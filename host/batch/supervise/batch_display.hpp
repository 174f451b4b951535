// What is seen of a running batch: one line for a single trial, a table for more, progress.json, and its page. It reads the
// batch's own files, as `status` and `watch` do, so that all three say the same.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>

#include "config/experiment.hpp"
#include "record/status_file.hpp"
#include "store/progress_file.hpp"
#include "supervise/batch_view.hpp"
#include "supervise/live_page.hpp"
#include "supervise/progress.hpp"
#include "supervise/watch_screen.hpp"

namespace backplane {

struct DisplayedBatch {
  std::filesystem::path out;
  Experiment experiment;
  bool several = false;                  // trials: a table
  bool quiet = false;                    // nothing on stderr
  std::filesystem::path report_program;  // keeps the page; empty: there is to be none
  std::string typed_program;             // as a person types it
};

class BatchDisplay {
 public:
  explicit BatchDisplay(const DisplayedBatch& batch);

  // Once the batch's files are there, before its first trial starts. Never throws.
  void Begin();
  // Whole lines on stderr and in the session's log; details are in the log alone unless --verbose wants them shown.
  void Note(const std::string& sentence);
  void Detail(const std::string& sentence);
  // At most five times a second for the screen and once for the file; `always` does both. `running`: the status of the
  // only trial that runs; NULL: none or several do. Never throws: a picture is not worth a batch.
  void Show(const StatusFile* running, double elapsed_s, bool always = false);
  void Clear();  // takes what is redrawn off the screen, and ends what writes the page

 private:
  void Show(const std::string& sentence);
  void Refresh();

  std::filesystem::path out_;
  std::string experiment_;
  bool quiet_, table_;  // table_: more than one trial
  ProgressFile file_;
  std::unique_ptr<BatchView> view_;
  std::optional<Progress> line_;
  std::optional<BatchScreen> screen_;
  std::optional<LivePage> page_;
  double next_file_s_ = 0;
  bool complained_ = false;
};

}  // namespace backplane
