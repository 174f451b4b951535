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
    if (order.memory_fd >= 0) command.inherit_fds.push_back(order.memory_fd);
    child_ = std::make_unique<Child>(command, ChildSetup{.death_signal = SIGKILL});
    sockets_.CloseTheirs();
  }

  int fd() const override { return sockets_.ours(); }
  void End() override { child_->Signal(SIGKILL); }
  std::string HowItEnded() override {
    const std::optional<ChildExit> exit = child_->Wait(kUntilItIsReaped_ms);
    if (!exit) End();  // it must not write into shared memory any more
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
  StartedLocally(const WorkerOrder& order, uint64_t workers, uint64_t threads, const std::filesystem::path& logs)
      : order_(order), workers_(workers), threads_(threads), logs_(logs) {
    order_.memory_fd = memory_.fd();
    for (uint64_t i = 0; i < workers; ++i) links_.push_back(Start(i + 1));
  }
  const std::string& token() const override { return token_; }
  SharedMemory* memory() override { return &memory_; }
  WorkerLinks Links(const std::atomic<bool>&, const std::function<void()>&) override { return std::move(links_); }
  std::unique_ptr<WorkerLink> Restart(uint64_t number, const std::atomic<bool>&, const std::function<void()>&) override {
    return Start(number);
  }

 private:
  std::unique_ptr<WorkerLink> Start(uint64_t number) const {
    WorkerOrder one = order_;
    one.number = number;
    one.threads = ThreadsOfWorker(number - 1, workers_, threads_);
    return std::make_unique<LocalWorker>(one, logs_ / fmt::format("worker-{}.log", number));
  }

  WorkerOrder order_;
  const uint64_t workers_, threads_;
  const std::filesystem::path logs_;
  SharedMemory memory_;
  const std::string token_;
  WorkerLinks links_;
};

}  // namespace

std::unique_ptr<StartedWorkers> StartLocalWorkers(const WorkerOrder& order, uint64_t workers, uint64_t threads,
                                                  const std::filesystem::path& logs) {
  return std::make_unique<StartedLocally>(order, workers, threads, logs);
}

}  // namespace backplane
