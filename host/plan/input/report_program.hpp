// backplane-report, installed next to this program: it turns results folders into reports. A separate process, so that its
// failures cannot affect a batch.
#pragma once

#include <chrono>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>

#include "record/batch_measures.hpp"
#include "record/report_requests.hpp"

namespace backplane {

class ReportProgram {
 public:
  ReportProgram();  // the one in this program's own folder
  // Another file, which is killed after so long.
  ReportProgram(std::filesystem::path file, std::chrono::milliseconds limit) : file_(std::move(file)), limit_(limit) {}

  // The program in our own folder, for a batch that was stopped, whose user waits for the end.
  static ReportProgram AfterStop(std::chrono::milliseconds limit);

  const std::filesystem::path& file() const { return file_; }

  // Returns its answer to one of its commands, and passes its stderr on. Throws std::runtime_error with its error or its end,
  // in a sentence, and Interrupted if a stop came meanwhile (base/interrupt.hpp).
  std::string Ask(const std::string& command, const nlohmann::json& request) const;
  // Its output is this program's. Returns its exit code; throws like Ask where it has none.
  int Show(const std::string& command, const nlohmann::json& request) const;

 private:
  std::filesystem::path file_;
  std::chrono::milliseconds limit_;
};

// For a report of the folder, its commands called as the person has called this program.
ReportRequest RequestFor(const std::filesystem::path& out, const std::string& typed_program);

// Measures of the trials in a results folder; see MeasuresRequest.
BatchMeasures MeasuresOf(const std::filesystem::path& out, const std::string& measure = "", bool diagnose = false);

// Columns that it may fill: of the terminal that stdout is; of no terminal enough to leave no column of a table out.
size_t ReportWidth();

}  // namespace backplane
