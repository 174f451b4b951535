#include "search/side_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/awake_clock.hpp"
#include "base/files.hpp"
#include "base/json_fields.hpp"
#include "base/json_text.hpp"
#include "base/memory_file.hpp"
#include "base/printable.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "record/search_messages.hpp"

namespace backplane {

extern const char* const kSearchSource;  // optuna_side.py

namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kLongestStart_s = 120;  // for `open`: loads Optuna and torch from a cold disk
constexpr int kTick_ms = 50, kLastWords_ms = 1000;
constexpr double kTick_s = 0.05;
constexpr std::chrono::milliseconds kLongestRow{200}, kPause{20};
constexpr size_t kMostReplyBytes = 16 << 20, kShownColumns = 200;

std::string SayMissing(const std::string& python, const std::string& what) {
  return fmt::format("sweep.search needs Optuna, which {} does not have ({}): {}", python, what,
                     PipHint("optuna cmaes scipy", python));
}

}  // namespace

std::string WhyNoSearch(const std::string& method) {
  const std::string python = FindPython();
  const ProcessEnd run = RunProcess({{python, "-c", kSearchSource, "--lacks", method}});
  if (!run.started) return SayMissing(python, "no such program: " + run.err.substr(0, run.err.find('\n')));
  if (run.timed_out) return SayMissing(python, "it does not answer");
  if (!run.ok()) return SayMissing(python, "it fails");
  const std::string lacks = run.out.substr(0, run.out.find('\n'));
  return lacks.empty() ? "" : SayMissing(python, "no " + lacks);
}

SideProcess::SideProcess(fs::path log, SearchWait wait) : log_(std::move(log)), wait_(std::move(wait)), python_(FindPython()) {
  ChildCommand command;
  command.program = "/usr/bin/env";                                  // finds a bare name on PATH
  command.environment = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"};  // leaves the cores to the trials
  command.stdout_file = command.stderr_file = log_;
  try {
    peer_ = std::make_unique<LinePeer>();
    const MemoryFile program(kSearchSource);
    const std::string fd = std::to_string(peer_->theirs());
    command.arguments = {python_, fmt::format("/proc/self/fd/{}", program.fd()), fd, fd};
    command.inherit_fds = {peer_->theirs(), program.fd()};
    std::error_code exists;
    fs::create_directories(log_.parent_path(), exists);
    child_ = std::make_unique<Child>(command);
    log_fd_ = open(log_.c_str(), O_RDONLY | O_CLOEXEC);
  } catch (const std::exception& error) {
    throw SearchError(fmt::format("sweep.search: cannot start {}: {}", python_, error.what()));
  }
  peer_->CloseTheirs();
}

SideProcess::~SideProcess() { End(); }

void SideProcess::End() {
  child_.reset();
  peer_.reset();
  if (log_fd_ >= 0) close(std::exchange(log_fd_, -1));
}

json SideProcess::Ask(const json& request) {
  if (!child_) throw SearchError(fmt::format("sweep.search: the process of Optuna ({}) was ended", python_));
  LookAround();
  const std::string op = ReadTolerantly<SearchRequest>(request).op;
  const std::string text = Exchange(JsonText(request) + "\n", op);
  last_reply_ = Clock::now();
  json reply = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!reply.is_object())
    Fail(fmt::format("expected a JSON object as the reply to '{}', got {}", op, Printable(text, kShownColumns)));
  const auto read = ReadTolerantly<SearchReply>(reply);
  if (read.error.is_null()) return reply;
  const std::string what = Printable(Text(read.error, JsonText(read.error)), kShownColumns);
  if (!read.missing.is_null()) throw SearchError(SayMissing(python_, what));
  throw SearchError(fmt::format("sweep.search: Optuna rejects '{}': {}", op, what));
}

// Returns the reply to this line. Only time in which this process runs counts, because a suspended machine cannot reply.
std::string SideProcess::Exchange(const std::string& line, const std::string& op) {
  if (!peer_->unread().empty())
    Fail(fmt::format("expected one reply, got more: {}", Printable(peer_->unread(), kShownColumns)));
  const double limit_s = op == "open" ? std::max(wait_.limit_s, kLongestStart_s) : wait_.limit_s;
  AwakeClock waited(kPauseOfOurs_s);
  double looked_s = 0;
  if (!peer_->Send(line)) FailAsEnded();
  for (;;) {
    if (std::optional<std::string> reply = peer_->Next()) return *std::move(reply);
    if (peer_->unread().size() > kMostReplyBytes)
      Fail(fmt::format("its reply to '{}' is longer than {} MiB", op, kMostReplyBytes >> 20));
    waited.Look(/*counts=*/false);
    const LinePeer::Heard heard = peer_->Listen(kTick_ms);
    if (heard == LinePeer::Heard::kEnd) FailAsEnded();
    // Limits the total time, even if the reply comes in small pieces. A signal, such as Ctrl-C, ends the wait early.
    if (waited.Look() - looked_s >= kTick_s || heard == LinePeer::Heard::kNothing) {
      looked_s = waited.seconds();
      if (wait_.meanwhile && !wait_.meanwhile()) Fail(fmt::format("stopped while waiting for the reply to '{}'", op));
    }
    if (waited.seconds() > limit_s)
      Fail(fmt::format("the process of Optuna ({}) did not answer '{}' within {:g} s{}", python_, op, limit_s,
                       limit_s > wait_.limit_s ? "" : " (resources.hang_timeout)"));
  }
}

// Many fast requests in a row, as in a replay, must not delay the batch's ticks either.
void SideProcess::LookAround() {
  const auto now = Clock::now();
  if (now - last_reply_ > kPause) row_began_ = now;
  if (now - row_began_ <= kLongestRow) return;
  row_began_ = now;
  if (wait_.meanwhile && !wait_.meanwhile()) Fail("stopped between two requests");
}

void SideProcess::Fail(const std::string& why) {
  End();
  throw SearchError("sweep.search: " + why);
}

void SideProcess::FailAsEnded() {
  child_->Wait(kLastWords_ms);
  const std::vector<std::string> last = LastLines(fmt::format("/proc/self/fd/{}", log_fd_), 1);
  Fail(fmt::format("the process of Optuna ({}) has ended{}", python_,
                   last.empty() ? "" : "; its last line: " + Printable(last.front(), kShownColumns)));
}

}  // namespace backplane
