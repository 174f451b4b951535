#include "base/signal_text.hpp"

#include <cstring>

namespace backplane {

std::string SignalText(int signal) {
  const char* name = sigabbrev_np(signal);
  return name != nullptr ? std::string("SIG") + name : "signal " + std::to_string(signal);
}

}  // namespace backplane
