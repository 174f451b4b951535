#include "cluster/program_call.hpp"

#include <fmt/format.h>
#include <poll.h>

#include <algorithm>
#include <cstdlib>
#include <iterator>
#include <stdexcept>

#include "base/interrupt.hpp"
#include "base/printable.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

using std::chrono::milliseconds;

constexpr int64_t kPatience_s = 30, kMostPatience_s = 3600;
constexpr int kLookAgain_ms = 10;
constexpr size_t kBlocksAtOnce = 16;
constexpr size_t kMostPrinted = 16 << 20, kShownColumns = 200;
constexpr int kNotFound = 127;  // exit code of a shell

// The first non-blank line.
std::string FirstLine(const std::string& text) {
  const size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string::npos) return "";
  return Printable(text.substr(begin, text.find('\n', begin) - begin), kShownColumns);
}

}  // namespace

milliseconds ClusterPatience() {
  const char* const text = std::getenv("BACKPLANE_CLUSTER_PATIENCE");
  const std::optional<int64_t> seconds = text == nullptr ? std::nullopt : ParseInteger(text);
  return std::chrono::seconds(seconds && *seconds > 0 ? std::min(*seconds, kMostPatience_s) : kPatience_s);
}

ProgramCall::ProgramCall(std::vector<std::string> words, milliseconds limit, const std::string& input)
    : name_(words.front()), limit_(limit) {
  // The shell finds the program on PATH and passes its input.
  ChildCommand command;
  command.program = "/bin/sh";
  try {
    input_.emplace(input);
    command.arguments = {"-c", fmt::format("exec \"$@\" </proc/self/fd/{}", input_->fd()), "sh"};
    command.arguments.insert(command.arguments.end(), words.begin(), words.end());
    command.inherit_fds = {input_->fd()};
    child_ = std::make_unique<Child>(command,
                                     ChildSetup{.stdout_fd = out_.emplace().writer(), .stderr_fd = err_.emplace().writer()});
    out_->CloseWriter();
    err_->CloseWriter();
  } catch (const std::exception& error) {
    Finish(fmt::format("{} cannot be started: {}", name_, error.what()));
  }
}

void ProgramCall::Finish(const std::string& failure) {
  child_.reset();
  ended_ = true;
  end_.failure = failure;
}

const CallEnd* ProgramCall::Look() {
  if (ended_) return &end_;
  const std::optional<ChildExit> exit = child_->Wait(0);
  out_->TakeInto(&end_.out, kBlocksAtOnce);
  err_->TakeInto(&end_.err, kBlocksAtOnce);
  if (std::max(end_.out.size(), end_.err.size()) > kMostPrinted) {
    Finish(fmt::format("{} printed more than {} MiB and was killed", name_, kMostPrinted >> 20));
  } else if (exit) {
    Ended(*exit);
  } else if (waited_.Look() * 1000 >= static_cast<double>(limit_.count())) {
    Finish(fmt::format("{} did not answer within {:g} s and was killed", name_, static_cast<double>(limit_.count()) / 1000));
  }
  return ended_ ? &end_ : nullptr;
}

void ProgramCall::Ended(const ChildExit& exit) {
  const std::string line = FirstLine(end_.err);
  const std::string reason = line.empty() ? " and printed no reason" : ": " + line;
  if (exit.signal != 0) return Finish(fmt::format("{} was ended by signal {}{}", name_, exit.signal, reason));
  if (exit.code == kNotFound) return Finish(fmt::format("{} cannot be started{}", name_, reason));
  Finish(exit.code == 0 ? "" : fmt::format("{} ended with exit code {}{}", name_, exit.code, reason));
}

CallEnd ProgramCall::Await() {
  const int interrupts = InterruptScope::Count();
  while (Look() == nullptr) {
    if (InterruptScope::Count() != interrupts) Finish(name_ + " was stopped by Ctrl-C or `backplane stop` before it answered");
    pollfd printed[] = {{out_->reader(), POLLIN, 0}, {err_->reader(), POLLIN, 0}};  // poll ignores closed (negative) ones
    poll(printed, std::size(printed), kLookAgain_ms);
  }
  return end_;
}

}  // namespace backplane
