// The JSON that chrome://tracing defined and Perfetto reads: spans, counters and the names of tracks.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace backplane::trace {

class TraceFile {
 public:
  explicit TraceFile(std::string process_name) : process_name_(std::move(process_name)) {}

  // Texts must be static. Spans of one track must nest. Times in ns of any common clock.
  void NameTrack(uint32_t track, const std::string& name) { tracks_[track] = name; }
  void AddSpan(uint32_t track, std::string_view name, int64_t begin_ns, int64_t duration_ns, const char* argument,
               uint64_t value);
  void AddCounter(std::string_view name, int64_t t_ns, double value);  // JSON has no NaN: left out
  size_t size() const { return events_.size(); }
  // Whole, times counted from the earliest event, by rename. Throws std::runtime_error.
  void Write(const std::string& path) const;

 private:
  struct Event {
    char kind;  // 'X' span, 'C' counter
    uint32_t track;
    std::string_view name;
    int64_t at_ns, duration_ns;
    const char* argument;  // NULL: none
    double value;
  };
  int64_t Earliest() const;

  std::string process_name_;
  std::map<uint32_t, std::string> tracks_;
  std::vector<Event> events_;
};

}  // namespace backplane::trace
