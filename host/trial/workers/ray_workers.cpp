#include "workers/ray_workers.hpp"

#include <fmt/format.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <csignal>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <random>
#include <stdexcept>
#include <utility>

#include "base/child.hpp"
#include "base/json_text.hpp"
#include "base/line_peer.hpp"
#include "record/fields.hpp"
#include "rollout/failure.hpp"
#include "workers/frame.hpp"
#include "workers/listener.hpp"

namespace backplane {

extern const char kRayWorkersProgram[];  // ray_workers.py

namespace {

using Clock = std::chrono::steady_clock;

constexpr int kLook_ms = 100, kToTell_ms = 3000;
constexpr std::chrono::seconds kToJoin{60}, kToStart{120}, kToRestart{30};

std::string RandomToken() {
  std::random_device random;
  std::string token;
  for (int i = 0; i < 4; ++i) token += fmt::format("{:08x}", random());
  return token;
}

// A line of the Python program: its failure, the node of the workers, or the end of a worker.
struct DriverReply {
  std::optional<std::string> failed, node;
  bool lasting = false;  // another attempt would fail too
  std::optional<uint64_t> ended;
  std::string how = "it ended", words;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("failed", self.failed);
    visit("lasting", self.lasting);
    visit("node", self.node);
    visit("ended", self.ended);
    visit("how", self.how);
    visit("words", self.words);
  }
};

// The Python program of this trial and its replies.
class RayDriver {
 public:
  RayDriver(const std::string& python, const std::string& address) {
    ChildCommand command;
    command.program = python;
    command.arguments = {"-c", kRayWorkersProgram, std::to_string(peer_.theirs()), address};
    command.stdout_file = command.stderr_file = "/dev/null";
    command.inherit_fds = {peer_.theirs()};
    child_ = std::make_unique<Child>(command, ChildSetup{.death_signal = SIGTERM});
    peer_.CloseTheirs();
  }
  ~RayDriver() {
    peer_.EndInput();
    child_->Wait(kToTell_ms);  // ends its actors too
  }
  RayDriver(const RayDriver&) = delete;

  void Say(const nlohmann::json& what) { peer_.Send(JsonText(what) + "\n"); }
  // The address of this machine's node; empty if cancelled. Throws std::runtime_error if the program failed or is gone.
  const std::string& AwaitNode(const std::atomic<bool>& cancelled, const std::function<void()>& beat) {
    for (const auto until = Clock::now() + kToJoin; node_.empty() && !cancelled; Listen(kLook_ms)) {
      beat();
      if (Clock::now() > until)
        throw std::runtime_error(fmt::format("workers on Ray: could not join the cluster within {} s", kToJoin.count()));
    }
    return node_;
  }
  void Listen(int timeout_ms) {
    if (peer_.Listen(timeout_ms) == LinePeer::Heard::kEnd) throw std::runtime_error("Ray's driver has ended");
    while (const auto line = peer_.Next()) Take(*line);
  }
  struct End {
    std::string how, words;
  };
  void Forget(uint64_t number) { ends_.erase(number); }
  // NULL: no end is known.
  const End* EndOf(uint64_t number) const {
    const auto found = ends_.find(number);
    return found == ends_.end() ? nullptr : &found->second;
  }

 private:
  void Take(const std::string& line) {
    const nlohmann::json said = nlohmann::json::parse(line, nullptr, false);
    if (!said.is_object())
      throw std::runtime_error("Ray's driver: expected a JSON object per line, got " + line.substr(0, 200));
    const auto reply = ReadTolerantly<DriverReply>(said);
    if (reply.failed) {
      const std::string why = "workers on Ray: " + *reply.failed;
      if (reply.lasting) throw TrialFailure(BP_E_CONFIG, "", why);  // another attempt would have the same result
      throw std::runtime_error(why);
    }
    if (reply.node) node_ = *reply.node;
    if (reply.ended) ends_[*reply.ended] = {reply.how, reply.words};
  }

  LinePeer peer_;
  std::unique_ptr<Child> child_;
  std::string node_;
  std::map<uint64_t, End> ends_;
};

class RayLink : public WorkerLink {
 public:
  RayLink(std::shared_ptr<RayDriver> driver, uint64_t number, int fd) : driver_(std::move(driver)), number_(number), fd_(fd) {}
  ~RayLink() override { close(fd_); }
  RayLink(const RayLink&) = delete;

  int fd() const override { return fd_; }
  // A stopped process does not notice the end of its stream, so kill its actor too.
  void End() override {
    shutdown(fd_, SHUT_RDWR);
    driver_->Say({{"end", number_}});
  }
  std::string HowItEnded() override {
    try {
      for (const auto until = Clock::now() + std::chrono::milliseconds(kToTell_ms); Clock::now() < until;) {
        if (const RayDriver::End* end = driver_->EndOf(number_)) return end->how;
        driver_->Listen(kLook_ms);
      }
    } catch (const std::runtime_error& e) {
      return std::string("its stream has ended (") + e.what() + ")";
    }
    return "its stream has ended";
  }
  std::string LastWords() const override {
    const RayDriver::End* const end = driver_->EndOf(number_);
    return end == nullptr ? "" : end->words;
  }

 private:
  const std::shared_ptr<RayDriver> driver_;
  const uint64_t number_;
  const int fd_;
};

class StartedOnRay : public StartedWorkers {
 public:
  StartedOnRay(const std::string& python, const std::string& address, const WorkerOrder& order, uint64_t workers,
               uint64_t threads)
      : order_(order),
        workers_(workers),
        threads_(threads),
        driver_(std::make_shared<RayDriver>(python, address)),
        token_(RandomToken()) {}

  const std::string& token() const override { return token_; }
  WorkerLinks Links(const std::atomic<bool>& cancelled, const std::function<void()>& beat) override {
    const std::string& node = driver_->AwaitNode(cancelled, beat);
    if (node.empty()) return {};
    listener_.emplace(node, token_);
    AskForActors(listener_->at());
    WorkerLinks links(workers_);
    const auto until = Clock::now() + kToStart;
    for (uint64_t there = 0; there < workers_;) {
      if (cancelled) return {};
      beat();
      driver_->Listen(0);
      for (uint64_t i = 0; i < workers_; ++i)
        if (!links[i]) CheckIsComing(i + 1);
      if (Clock::now() > until)
        throw std::runtime_error(
            fmt::format("Ray started {} of {} workers in {} s; they need {} CPUs; `ray status` shows the free ones", there,
                        workers_, kToStart.count(), std::max(workers_, threads_)));
      const auto caller = listener_->Await(kLook_ms);
      if (!caller) continue;
      auto link = std::make_unique<RayLink>(driver_, caller->number, caller->fd);
      if (caller->number < 1 || caller->number > workers_ || links[caller->number - 1]) continue;  // disconnects it
      links[caller->number - 1] = std::move(link);
      ++there;
    }
    return links;
  }
  std::unique_ptr<WorkerLink> Restart(uint64_t number, const std::atomic<bool>& cancelled,
                                      const std::function<void()>& beat) override {
    driver_->Forget(number);
    driver_->Say({{"again", number}});
    const auto until = Clock::now() + kToRestart;
    while (!cancelled && Clock::now() < until && driver_->EndOf(number) == nullptr) {
      beat();
      driver_->Listen(0);
      const auto caller = listener_->Await(kLook_ms);
      if (!caller) continue;
      auto link = std::make_unique<RayLink>(driver_, caller->number, caller->fd);
      if (caller->number == number) return link;  // others are disconnected
    }
    if (driver_->EndOf(number) == nullptr) driver_->Say({{"end", number}});
    return nullptr;
  }

 private:
  void AskForActors(const std::string& at) {
    nlohmann::json arguments = nlohmann::json::array(), threads = nlohmann::json::array();
    for (uint64_t i = 0; i < workers_; ++i) {
      WorkerOrder one = order_;
      one.number = i + 1, one.threads = ThreadsOfWorker(i, workers_, threads_), one.connect = at;
      threads.push_back(one.threads);
      arguments.push_back(ToArguments(one));
    }
    driver_->Say({{"program", order_.program.string()}, {"arguments", arguments}, {"threads", threads}, {"token", token_}});
  }
  void CheckIsComing(uint64_t number) const {
    const RayDriver::End* const end = driver_->EndOf(number);
    if (end == nullptr) return;
    throw std::runtime_error(fmt::format("worker {}: {} before it connected to the trial{}", number, end->how,
                                         end->words.empty() ? "" : "; its last output: " + end->words));
  }

  const WorkerOrder order_;
  const uint64_t workers_, threads_;
  const std::shared_ptr<RayDriver> driver_;
  const std::string token_;
  std::optional<WorkerListener> listener_;
};

}  // namespace

std::unique_ptr<StartedWorkers> StartRayWorkers(const std::string& python, const std::string& address, const WorkerOrder& order,
                                                uint64_t workers, uint64_t threads) {
  return std::make_unique<StartedOnRay>(python, address, order, workers, threads);
}

}  // namespace backplane
