#include "screen/live_page.hpp"

#include <algorithm>

#include "log/log.hpp"

namespace backplane {

void LivePage::Look() {
  constexpr std::chrono::seconds kLongestPause{60};
  try {
    if (child_ && child_->Wait(0)) {
      LogToFile(LogLevel::kDebug, "the page writer has ended; restarting it");
      child_.reset();
      next_start_ = Clock::now() + pause_;
      pause_ = std::min(2 * pause_, kLongestPause);
    }
    if (child_ || Clock::now() < next_start_) return;
    ChildCommand command;
    command.program = program_;
    command.arguments = {"--live", out_.string(), typed_program_};
    child_ = std::make_unique<Child>(command);
  } catch (const std::exception& error) {
    LogToFile(LogLevel::kDebug, std::string("no page is written: ") + error.what());
    next_start_ = Clock::now() + kLongestPause;
  }
}

}  // namespace backplane
