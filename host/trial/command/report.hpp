// A report of a command: a line of metrics.jsonl.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <optional>
#include <string>

namespace backplane {

struct Report {
  std::optional<uint64_t> step;          // env steps so far; absent: unchanged
  std::map<std::string, double> values;  // by measure name; NaN: not finite
  std::string error = {};                // why the function of the trial ended; empty: it has not failed

  bool empty() const { return values.empty(); }
};

using UseReport = std::function<void(const Report&)>;

}  // namespace backplane
