#include "search/side_process.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <string_view>
#include <utility>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/printable.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "search/side_source.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr double kLongestStart_s = 120;  // of `open`: Optuna and torch from a cold disk
constexpr int kTick_ms = 50, kLastWords_ms = 1000;
constexpr double kTick_s = 0.05;
constexpr double kLongestTick_s = 1;  // a longer one is a pause of this process itself
constexpr std::chrono::milliseconds kLongestRow{200}, kPause{20};
constexpr size_t kBlock = 1 << 16, kMostReplyBytes = 16 << 20, kShownColumns = 200;

// A program in memory, to be named as /proc/self/fd/N by who inherits it.
int ProgramInMemory(std::string_view text) {
  const int fd = memfd_create("search", MFD_CLOEXEC);
  if (fd < 0) throw SearchError(std::string("sweep.search: no memory for the side process: ") + std::strerror(errno));
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0) {
      close(fd);
      throw SearchError(std::string("sweep.search: no memory for the side process: ") + std::strerror(errno));
    }
    done += static_cast<size_t>(n);
  }
  return fd;
}

std::string SayMissing(const std::string& python, const std::string& what) {
  return fmt::format("sweep.search is answered by Optuna, which {} does not have ({}): {}", python, what, kInstallSearch);
}

}  // namespace

std::string WhyNoSearch(const std::string& method) {
  const std::string python = FindPython();
  const ProcessEnd run = RunProcess({{python, "-c", kSearchSource, "--lacks", method}});
  if (!run.started) return SayMissing(python, "no such program: " + run.err.substr(0, run.err.find('\n')));
  if (run.timed_out) return SayMissing(python, "it does not answer");
  if (!run.ok()) return SayMissing(python, "it cannot be asked");
  const std::string lacks = run.out.substr(0, run.out.find('\n'));
  return lacks.empty() ? "" : SayMissing(python, "no " + lacks);
}

SideProcess::SideProcess(fs::path log, SearchWait wait) : log_(std::move(log)), wait_(std::move(wait)), python_(FindPython()) {
  int sockets[2];
  if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, sockets) != 0)
    throw SearchError(std::string("sweep.search: no socket to the side process: ") + std::strerror(errno));
  fd_ = sockets[0];
  const int program = ProgramInMemory(kSearchSource);
  ChildCommand command;
  command.program = "/usr/bin/env";  // which looks for a bare name on PATH
  command.arguments = {python_, fmt::format("/proc/self/fd/{}", program), std::to_string(sockets[1]),
                       std::to_string(sockets[1])};
  command.environment = {"OMP_NUM_THREADS=1", "MKL_NUM_THREADS=1"};  // the cores are the trials'
  command.stdout_file = command.stderr_file = log_;
  command.inherit_fds = {sockets[1], program};
  try {
    std::error_code exists;
    fs::create_directories(log_.parent_path(), exists);
    child_ = std::make_unique<Child>(command);
    log_fd_ = open(log_.c_str(), O_RDONLY | O_CLOEXEC);
  } catch (const std::exception& error) {
    for (const int fd : {sockets[0], sockets[1], program}) close(fd);
    throw SearchError(fmt::format("sweep.search: {} could not be started: {}", python_, error.what()));
  }
  close(sockets[1]);
  close(program);
}

SideProcess::~SideProcess() { End(); }

void SideProcess::End() {
  child_.reset();
  for (int* const fd : {&fd_, &log_fd_})
    if (*fd >= 0) close(std::exchange(*fd, -1));
}

json SideProcess::Ask(const json& request) {
  if (!child_) throw SearchError(fmt::format("sweep.search: the side process ({}) was ended", python_));
  LookAround();
  const std::string op = request.value("op", "");
  const std::string text = Exchange(JsonText(request) + "\n", op);
  last_reply_ = Clock::now();
  json reply = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!reply.is_object())
    Fail(fmt::format("expected a JSON object as the reply to '{}', got {}", op, Printable(text, kShownColumns)));
  const auto error = reply.find("error");
  if (error == reply.end()) return reply;
  const std::string what = Printable(error->is_string() ? error->get<std::string>() : JsonText(*error), kShownColumns);
  if (reply.contains("missing")) throw SearchError(SayMissing(python_, what));
  throw SearchError(fmt::format("sweep.search: Optuna rejects '{}': {}", op, what));
}

// Returns the reply to this line. Only time in which this process runs counts, because a suspended machine cannot reply.
std::string SideProcess::Exchange(const std::string& line, const std::string& op) {
  if (!unread_.empty()) Fail(fmt::format("it sent more than the reply: {}", Printable(unread_, kShownColumns)));
  const double limit_s = op == "open" ? std::max(wait_.limit_s, kLongestStart_s) : wait_.limit_s;
  double waited_s = 0, looked_s = 0;
  for (size_t sent = 0;;) {
    Send(line, &sent);
    const size_t end = unread_.find('\n');
    if (end != std::string::npos) {
      std::string reply = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return reply;
    }
    if (unread_.size() > kMostReplyBytes)
      Fail(fmt::format("its reply to '{}' is longer than {} MiB", op, kMostReplyBytes >> 20));
    const auto began = Clock::now();
    pollfd watched{fd_, static_cast<short>(POLLIN | (sent < line.size() ? POLLOUT : 0)), 0};
    const int ready = poll(&watched, 1, kTick_ms);
    if (ready > 0 && (watched.revents & ~POLLOUT) != 0) Receive();
    waited_s += std::min(std::chrono::duration<double>(Clock::now() - began).count(), kLongestTick_s);
    // Also if the reply comes in small pieces. A signal, such as Ctrl-C, ends `poll` early.
    if (ready < 0 || waited_s - looked_s >= kTick_s) {
      looked_s = waited_s;
      if (wait_.meanwhile && !wait_.meanwhile()) Fail(fmt::format("stopped while the side process was asked for '{}'", op));
    }
    if (waited_s > limit_s)
      Fail(fmt::format("the side process ({}) did not answer '{}' within {:g} s{}", python_, op, limit_s,
                       limit_s > wait_.limit_s ? "" : " (resources.hang_timeout)"));
  }
}

void SideProcess::Send(const std::string& line, size_t* sent) {
  while (*sent < line.size()) {
    const ssize_t n = send(fd_, line.data() + *sent, line.size() - *sent, MSG_NOSIGNAL | MSG_DONTWAIT);
    if (n > 0) {
      *sent += static_cast<size_t>(n);
    } else if (errno == EAGAIN) {
      return;
    } else if (errno != EINTR) {
      FailAsEnded();
    }
  }
}

void SideProcess::Receive() {
  char block[kBlock];
  const ssize_t n = recv(fd_, block, sizeof block, MSG_DONTWAIT);
  if (n < 0 && (errno == EINTR || errno == EAGAIN)) return;
  if (n <= 0) FailAsEnded();
  unread_.append(block, static_cast<size_t>(n));
}

// Many quick requests in a row, as in a replay, must not keep the batch from its ticks either.
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
  Fail(fmt::format("the side process ({}) has ended{}", python_,
                   last.empty() ? "" : "; its last words: " + Printable(last.front(), kShownColumns)));
}

}  // namespace backplane
