#include "screen/batch_display.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <cstdio>

#include "base/error_words.hpp"
#include "base/patient_output.hpp"
#include "log/log.hpp"

namespace backplane {
namespace {

constexpr double kFileEvery_s = 1;
constexpr double kShortest_s = 60;  // shorter batches need no announcement

}  // namespace

BatchDisplay::BatchDisplay(const DisplayedBatch& batch)
    : out_(batch.out),
      experiment_(batch.experiment.name),
      quiet_(batch.quiet),
      table_(batch.several),
      file_(ResultsFolder{batch.out}.progress(batch.experiment.progress_file.value_or(""))) {
  if (!batch.report_program.empty()) page_.emplace(batch.report_program, batch.out, batch.typed_program);
  const Screen screen = DetectScreen(STDERR_FILENO);
  if (table_) {
    screen_.emplace(stderr, screen);
  } else {
    line_.emplace(stderr, screen, batch.experiment.budget);
  }
}

void BatchDisplay::Begin() {
  try {
    Refresh();
    if (screen_) screen_->BeginWith(view_->rows());
  } catch (const std::exception&) {  // Show prints it
  }
}

void BatchDisplay::Note(const std::string& sentence) {
  LogToFile(sentence.starts_with("warning: ") ? LogLevel::kWarning : LogLevel::kInfo, sentence);
  Show(sentence);
}

void BatchDisplay::Detail(const std::string& sentence) {
  LogToFile(LogLevel::kDebug, sentence);
  if (ShowsDebug()) Show(sentence);
}

void BatchDisplay::Show(const std::string& sentence) {
  if (quiet_ || !TakesOutput(STDERR_FILENO, kNotePatience_ms)) return;
  table_ ? screen_->Note(sentence) : line_->Note(sentence);
}

void BatchDisplay::Refresh() {
  if (view_) {
    view_->Refresh();
  } else {
    view_ = std::make_unique<BatchView>(out_);
  }
}

void BatchDisplay::Show(const StatusFile* running, double elapsed_s, bool always) {
  try {
    const bool shows = !quiet_ && TakesOutput(STDERR_FILENO, 0);
    if (shows && line_ && running != nullptr) line_->Update(*running, elapsed_s);
    const double earlier_s = view_ ? view_->earlier_s() : 0;
    const bool draw = shows && screen_ && (always || screen_->Due(earlier_s + elapsed_s));
    const bool write = always || elapsed_s >= next_file_s_;
    if (!draw && !write) return;
    Refresh();
    view_->ForgetEnded();
    NoteExpectedTime();
    if (draw) screen_->Update(view_->rows(), view_->totals());
    if (!write) return;
    next_file_s_ = elapsed_s + kFileEvery_s;
    BatchProgress progress = view_->Progress();
    progress.head.experiment = experiment_;
    file_.Write(progress);
    if (page_) page_->Look();
  } catch (const std::exception& error) {
    if (!complained_) Note("warning: " + WordsOf(error));
    complained_ = true;
  }
}

void BatchDisplay::NoteExpectedTime() {
  const BatchTotals& totals = view_->totals();
  if (noted_time_ || !totals.left_s || totals.left_from.empty()) return;
  noted_time_ = true;
  if (*totals.left_s >= kShortest_s)
    Note(fmt::format("expected duration: about {} ({})", FormatClock(*totals.left_s), totals.left_from));
}

void BatchDisplay::Clear() {
  page_.reset();
  if (!TakesOutput(STDERR_FILENO, kNotePatience_ms)) return;
  if (line_) line_->Clear();
  if (screen_) screen_->Clear();
}

}  // namespace backplane
