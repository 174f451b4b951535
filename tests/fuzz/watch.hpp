// Watches the code under test. If an input ends the program, the input is first written to a file, and a message shows how to
// run it again.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

namespace backplane::fuzz {

struct Limits {
  double cpu_s = 5;  // of the processor; an input that only waits has kWaits times as long
  size_t memory_bytes = size_t{1} << 30;
};
inline constexpr double kWaits = 6;

class Watch {
 public:
  // Failing inputs go to the folder `failures`. One per program.
  Watch(const Limits& limits, const std::string& failures);

  // `from` is the file of the input, or empty for one made here.
  void Begin(const uint8_t* data, size_t size, const std::string& from);
  // Ends the program if the input used more memory than the limit. Returns seconds of CPU time.
  double End();

  static size_t PeakMemoryBytes();

 private:
  Limits limits_;
  double started_s_ = 0;
};

}  // namespace backplane::fuzz
