// Reports by the client (host/client): a line of JSON each, on the descriptor that BACKPLANE_REPORT_FD names.
//
//   {"step": 1000, "values": {"return": 21.5, "loss": null}}        null: a number that is not finite
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "command/line_splitter.hpp"
#include "command/report.hpp"

namespace backplane {

// Absent: it is no report.
std::optional<Report> ReportOfLine(std::string_view line);

class ReportChannel {
 public:
  // What the command has written to its end. Lines that are no reports are counted.
  void Add(std::string_view bytes, const UseReport& use);
  uint64_t broken_lines() const { return broken_lines_; }
  const std::string& first_broken() const { return first_broken_; }  // shortened

 private:
  static constexpr size_t kMostLine = 1 << 20;
  LineSplitter lines_{kMostLine};
  uint64_t broken_lines_ = 0;
  std::string first_broken_;
};

}  // namespace backplane
