// Reports of the client (host/client): one line of JSON each, on the descriptor in BACKPLANE_REPORT_FD.
//
//   {"step": 1000, "values": {"return": 21.5, "loss": null}}        null: a number that is not finite
//   {"error": "train.py:12: ValueError: no data"}                   the exception that ended a function
//
// The bare words NaN and Infinity count as null. Python's json writes them although JSON does not contain them.
#pragma once

#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "command/line_splitter.hpp"
#include "command/not_numbers.hpp"
#include "command/report.hpp"

namespace backplane {

// Format errors in a line that remains usable.
struct ReportFaults {
  bool bare_words = false;                           // NaN or Infinity
  std::map<std::string, std::string> not_numbers{};  // metrics without a number, with their values
};

// Absent: the line is no report. `faults` may be NULL.
std::optional<Report> ReportOfLine(std::string_view line, ReportFaults* faults = nullptr);

class ReportChannel {
 public:
  // Parses the lines that the command has completed, and counts those that are no reports.
  void Add(std::string_view bytes, const UseReport& use);
  uint64_t broken_lines() const { return broken_.count; }
  const std::string& first_broken() const { return broken_.first; }  // shortened
  const std::string& error() const { return error_; }
  // The form is in record/warning_text.hpp.
  std::vector<std::string> Warnings() const;

 private:
  struct Lines {
    uint64_t count = 0;
    std::string first;  // shortened

    void Add(std::string_view line);
  };

  static constexpr size_t kMostLine = 1 << 20;
  LineSplitter lines_{kMostLine};
  Lines broken_, with_bare_words_;
  NotNumbers not_numbers_;
  std::string error_;
};

}  // namespace backplane
