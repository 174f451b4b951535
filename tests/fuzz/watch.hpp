// Looks after the code under test while it has an input: whatever ends the program writes the input to a file first and says
// how to run it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace backplane::fuzz {

struct Limits {
  double cpu_s = 5;  // of the processor; an input that only waits is ended after kWaits times as long
  size_t memory_bytes = size_t{1} << 30;
};
inline constexpr double kWaits = 6;

class Watch {
 public:
  // Failing inputs go to the folder `failures`. One for a program.
  Watch(const Limits& limits, const std::string& failures);

  // `from` is the file that the input was read from, or empty for one made here.
  void Begin(const uint8_t* data, size_t size, const std::string& from);
  // Ends the program if the input took more memory than the limit. Seconds of the processor.
  double End();

  static size_t PeakMemoryBytes();

 private:
  Limits limits_;
  double started_s_ = 0;
};

}  // namespace backplane::fuzz
