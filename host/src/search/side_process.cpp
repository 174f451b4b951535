#include "search/side_process.hpp"

#include <fmt/format.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <string_view>

#include "base/files.hpp"
#include "base/json_text.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "search/side_source.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using nlohmann::json;

constexpr int kLongestReply_ms = 600'000;  // a Gaussian process over thousands of trials takes its time
constexpr size_t kBlock = 1 << 16;

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
  if (!run.ok()) return SayMissing(python, "it cannot be asked");
  const std::string lacks = run.out.substr(0, run.out.find('\n'));
  return lacks.empty() ? "" : SayMissing(python, "no " + lacks);
}

SideProcess::SideProcess(fs::path log) : log_(std::move(log)), python_(FindPython()) {
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
  } catch (const std::exception& error) {
    for (const int fd : {sockets[0], sockets[1], program}) close(fd);
    throw SearchError(fmt::format("sweep.search: {} could not be started: {}", python_, error.what()));
  }
  close(sockets[1]);
  close(program);
}

SideProcess::~SideProcess() {
  close(fd_);  // it ends at the end of its requests
}

json SideProcess::Ask(const json& request) {
  const std::string line = JsonText(request) + "\n";
  for (size_t done = 0; done < line.size();) {
    const ssize_t n = send(fd_, line.data() + done, line.size() - done, MSG_NOSIGNAL);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) SayThatItEnded();
    done += static_cast<size_t>(n);
  }
  const std::string text = NextLine();
  json reply = json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!reply.is_object()) throw SearchError("sweep.search: the side process answers what is no JSON: " + text);
  const auto error = reply.find("error");
  if (error == reply.end()) return reply;
  const std::string what = error->is_string() ? error->get<std::string>() : JsonText(*error);
  if (reply.contains("missing")) throw SearchError(SayMissing(python_, what));
  throw SearchError(fmt::format("sweep.search: Optuna refuses '{}': {}", request.value("op", ""), what));
}

std::string SideProcess::NextLine() {
  for (;;) {
    if (const size_t end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd watched{fd_, POLLIN, 0};
    const int ready = poll(&watched, 1, kLongestReply_ms);
    if (ready < 0 && errno == EINTR) continue;
    if (ready == 0) throw SearchError(fmt::format("sweep.search: no answer within {} s", kLongestReply_ms / 1000));
    char block[kBlock];
    const ssize_t n = recv(fd_, block, sizeof block, 0);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) SayThatItEnded();
    unread_.append(block, static_cast<size_t>(n));
  }
}

void SideProcess::SayThatItEnded() {
  const std::vector<std::string> last = LastLines(log_, 1);
  throw SearchError(fmt::format("sweep.search: the side process ({}) has ended{}", python_,
                                last.empty() ? "" : "; its last words: " + last.front()));
}

}  // namespace backplane
