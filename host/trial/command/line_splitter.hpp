// Splits a stream of bytes into lines.
#pragma once

#include <cstddef>
#include <functional>
#include <string>
#include <string_view>

namespace backplane {

class LineSplitter {
 public:
  // Truncates longer lines to `most` bytes.
  explicit LineSplitter(size_t most) : most_(most) {}

  // Calls `use` with each complete line, without its end. A progress bar ends its lines with '\r'.
  void Add(std::string_view bytes, const std::function<void(std::string_view line)>& use) {
    while (!bytes.empty()) {
      const size_t end = bytes.find_first_of("\n\r");
      const std::string_view part = bytes.substr(0, end);
      if (end != bytes.npos && begun_.empty()) {
        use(part.substr(0, most_));
      } else {
        begun_.append(part.substr(0, most_ - begun_.size()));
        if (end == bytes.npos) return;
        use(begun_);
        begun_.clear();
      }
      bytes.remove_prefix(end + 1);
    }
  }
  // Passes on an incomplete last line at the end of the stream.
  void Finish(const std::function<void(std::string_view line)>& use) {
    if (!begun_.empty()) use(begun_);
    begun_.clear();
  }

 private:
  const size_t most_;
  std::string begun_;
};

}  // namespace backplane
