// Reports by the client (host/client): a line of JSON each, on the descriptor that BACKPLANE_REPORT_FD names.
//
//   {"step": 1000, "values": {"return": 21.5, "loss": null}}        null: a number that is not finite
//
// The bare words NaN and Infinity, which Python's json writes though JSON has none, count as null.
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

// Deviations from the format that do not make the line useless.
struct ReportFaults {
  bool bare_words = false;                           // NaN or Infinity
  std::map<std::string, std::string> not_numbers{};  // metrics that were left out, with their values
};

// Absent: it is no report. `faults` may be NULL.
std::optional<Report> ReportOfLine(std::string_view line, ReportFaults* faults = nullptr);

class ReportChannel {
 public:
  // What the command has written to its end. Lines that are no reports are counted.
  void Add(std::string_view bytes, const UseReport& use);
  uint64_t broken_lines() const { return broken_.count; }
  const std::string& first_broken() const { return broken_.first; }  // shortened
  // In the form of record/warning_text.hpp.
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
};

}  // namespace backplane
