#include "workers/local_workers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <cstring>
#include <stdexcept>

#include "base/child.hpp"
#include "base/files.hpp"
#include "base/pipe.hpp"

namespace backplane {
namespace {

constexpr int kUntilItIsReaped_ms = 1000;

class LocalWorker : public WorkerLink {
 public:
  LocalWorker(WorkerOrder order, std::filesystem::path log) : log_(std::move(log)) {
    order.fd = sockets_.theirs();
    ChildCommand command;
    command.program = order.program;
    command.arguments = ToArguments(order);
    command.stdout_file = command.stderr_file = log_;
    command.inherit_fds = {order.fd};
    child_ = std::make_unique<Child>(command, ChildSetup{.death_signal = SIGKILL});
    sockets_.CloseTheirs();
  }

  int fd() const override { return sockets_.ours(); }
  void End() override { child_->Signal(SIGKILL); }
  std::string HowItEnded() override {
    const std::optional<ChildExit> exit = child_->Wait(kUntilItIsReaped_ms);
    if (!exit) return fmt::format("process {} closed its end of the stream", child_->pid());
    if (exit->signal != 0)
      return fmt::format("process {} was ended by signal {} ({})", child_->pid(), exit->signal, strsignal(exit->signal));
    return fmt::format("process {} ended with exit code {}", child_->pid(), exit->code);
  }
  std::string LastWords() const override {
    std::string words;
    for (const std::string& line : LastLines(log_, 3)) words += (words.empty() ? "" : " | ") + line;
    return words;
  }

 private:
  const std::filesystem::path log_;
  SocketPair sockets_;
  std::unique_ptr<Child> child_;
};

class StartedLocally : public StartedWorkers {
 public:
  explicit StartedLocally(WorkerLinks links) : links_(std::move(links)) {}
  const std::string& token() const override { return token_; }
  WorkerLinks Links(const std::atomic<bool>&, const std::function<void()>&) override { return std::move(links_); }

 private:
  const std::string token_;
  WorkerLinks links_;
};

}  // namespace

std::unique_ptr<StartedWorkers> StartLocalWorkers(const WorkerOrder& order, uint64_t workers, uint64_t threads,
                                                  const std::filesystem::path& logs) {
  WorkerLinks links;
  for (uint64_t i = 0; i < workers; ++i) {
    WorkerOrder one = order;
    one.number = i + 1;
    one.threads = ThreadsOfWorker(i, workers, threads);
    links.push_back(std::make_unique<LocalWorker>(one, logs / fmt::format("worker-{}.log", i + 1)));
  }
  return std::make_unique<StartedLocally>(std::move(links));
}

}  // namespace backplane
