#include "cluster/ray_engine.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <functional>
#include <stdexcept>

#include "base/awake_clock.hpp"
#include "base/child.hpp"
#include "base/interrupt.hpp"
#include "base/json_text.hpp"
#include "base/line_peer.hpp"
#include "base/printable.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "base/scratch_folder.hpp"
#include "cluster/program_call.hpp"
#include "log/log.hpp"
#include "record/fields.hpp"

namespace backplane {

extern const char* const kRayDriver;  // ray_driver.py

namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kJoins{120};     // a first import of Ray from a cold disk
constexpr std::chrono::seconds kNodesLook{60};  // check of the folder on all nodes
constexpr std::chrono::seconds kEndIsSeen{10};  // from the end of a task until its node's files are visible
constexpr size_t kWaiting = 8, kShownNodes = 4;
constexpr int kSilentPings = 2;  // in units of the patience for a cluster's program
constexpr int kLookForReplies_ms = 100;
constexpr int kDriverEnds_ms = 5000, kEndsAfterStop_ms = 1000;
constexpr double kPingEvery_s = 5;
constexpr size_t kMostUnread = 16 << 20, kShownSentence = 500;

std::string Shown(const nlohmann::json& text) {
  return text.is_string() ? Printable(text.get<std::string>(), kShownSentence) : "";
}

struct RayNode {
  double cpus = 0, gpus = 0, memory = 0;  // memory: bytes

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("cpus", self.cpus);
    visit("gpus", self.gpus);
    visit("memory", self.memory);
  }
};

struct RayCluster {
  std::string job;
  std::optional<double> cpus, gpus;
  std::vector<RayNode> sizes;  // of the living nodes

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("job", self.job);
    visit("cpus", self.cpus);
    visit("gpus", self.gpus);
    visit("sizes", self.sizes);
  }
};

// The room for tasks in Ray's queue. Ray names no reason of its own.
struct RayRoom {
  double cpus = 0, free_cpus = 0, gpus = 0, free_gpus = 0;
  uint64_t nodes = 0;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("cpus", self.cpus);
    visit("free_cpus", self.free_cpus);
    visit("gpus", self.gpus);
    visit("free_gpus", self.free_gpus);
    visit("nodes", self.nodes);
  }
};

// "4 cores, 1 GPU and 512 MiB"
std::string Resources(double cpus, double gpus, double memory) {
  std::string text = fmt::format("{:g} {}", cpus, cpus == 1 ? "core" : "cores");
  if (gpus > 0) text += fmt::format(", {:g} {}", gpus, gpus == 1 ? "GPU" : "GPUs");
  if (memory > 0) text += fmt::format(", {:.0f} MiB", memory / (1 << 20));
  return text;
}

}  // namespace

// A line of the driver's output.
struct RayEngine::DriverLine {
  std::optional<nlohmann::json> ready, error, opened, room;  // RayCluster, texts, RayRoom
  std::optional<JobId> lost, done, pong;
  nlohmann::json why;  // a text, with `lost`

  bool IsReplyToStart() const { return ready || error; }
  bool IsReplyToOpen() const { return opened.has_value(); }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("ready", self.ready);
    visit("error", self.error);
    visit("opened", self.opened);
    visit("room", self.room);
    visit("lost", self.lost);
    visit("done", self.done);
    visit("pong", self.pong);
    visit("why", self.why);
  }
};

// The driver process and the pipe to it.
class RayEngine::Driver {
 public:
  Driver(const std::string& python, const std::filesystem::path& log) : child_(Command(python, log)) { peer_.CloseTheirs(); }
  ~Driver() {
    peer_.EndInput();
    child_.Wait(InterruptScope::AnyCame() ? kEndsAfterStop_ms : kDriverEnds_ms);
  }
  Driver(const Driver&) = delete;

  // Returns false if the driver is dead. Never blocks on a driver that does not read; the rest is sent later.
  bool Tell(const nlohmann::json& what) { return peer_.Send(JsonText(what) + "\n"); }

  // True while the last answer is younger than the limit. Call it after each Hear.
  bool Answers(std::chrono::milliseconds limit) {
    const double passed_s = clock_.Passed();
    silent_s_ = ponged_ == pinged_ ? 0 : silent_s_ + passed_s;
    since_ping_s_ += passed_s;
    if (ponged_ == pinged_ && since_ping_s_ > kPingEvery_s) {
      since_ping_s_ = 0;
      Tell({{"ping", ++pinged_}});
    }
    return silent_s_ * 1000 <= static_cast<double>(limit.count());
  }
  void Kill() {
    child_.Signal(SIGKILL);
    ended_ = true;
  }

  // The lines since the last call. Waits at most `timeout_ms`.
  std::vector<DriverLine> Hear(int timeout_ms) {
    ended_ = peer_.Listen(timeout_ms) == LinePeer::Heard::kEnd || ended_;
    std::vector<DriverLine> lines;
    while (const auto text = peer_.Next()) {
      lines.push_back(ReadTolerantly<DriverLine>(nlohmann::json::parse(*text, nullptr, /*allow_exceptions=*/false)));
      ponged_ = lines.back().pong.value_or(ponged_);
    }
    if (peer_.unread().size() > kMostUnread) Kill();
    return lines;
  }
  bool ended() const { return ended_; }

  // Waits for a matching line. Absent: the driver ended, the time is over, or Ctrl-C was pressed.
  std::optional<DriverLine> Await(bool (DriverLine::*is_reply)() const, std::chrono::seconds at_most,
                                  const std::function<void()>& meanwhile = {}) {
    for (const auto until = Clock::now() + at_most; Clock::now() < until && InterruptScope::Count() == 0;) {
      if (meanwhile) meanwhile();
      for (DriverLine& line : Hear(kLookForReplies_ms))
        if ((line.*is_reply)()) return std::move(line);
      if (ended_) break;
    }
    return std::nullopt;
  }

 private:
  // Passes the input as a separate descriptor, because a child's standard input is /dev/null.
  ChildCommand Command(const std::string& python, const std::filesystem::path& log) {
    ChildCommand command;
    command.program = python;
    command.arguments = {"-c",
                         fmt::format("import os\nos.dup2({0}, 0)\nos.dup2({0}, 1)\nimport sys\nsys.stdin = os.fdopen(0)\n{1}",
                                     peer_.theirs(), kRayDriver)};
    command.environment = {"RAY_ENABLE_UV_RUN_RUNTIME_ENV=0"};
    command.stdout_file = command.stderr_file = log;
    command.inherit_fds = {peer_.theirs()};
    return command;
  }

  LinePeer peer_;
  Child child_;
  bool ended_ = false;
  uint64_t pinged_ = 0, ponged_ = 0;
  double silent_s_ = 0, since_ping_s_ = 0;
  AwakeClock clock_{kPauseOfOurs_s};
};

// The driver makes the same check after its start.
std::string RayEngine::WhyNot(const EngineConfig& config) {
  const std::string python = config.python.value_or(FindPython());
  const ProcessEnd run = RunProcess(
      {.words = {python, "-c", "import importlib.util as u, sys; sys.exit(3 if u.find_spec('ray') is None else 0)"}});
  if (run.ok()) return "";
  if (!run.started || run.code != 3)
    return fmt::format(
        "engine.kind ray: expected a Python that runs, got {}\nhint: set engine.python to a different interpreter", python);
  return fmt::format(
      "engine.kind ray: {} does not have the package ray\n"
      "hint: run `{} -m pip install ray`, or set engine.python to a different interpreter",
      python, python);
}

RayEngine::RayEngine(const EngineRequest& request) : FolderEngine(request.out), request_(request) {
  const std::string python = request.config.python.value_or(FindPython());
  const std::filesystem::path folder = MakeTemporaryFolder("backplane-ray"), log = folder / "driver.log";
  driver_ = std::make_unique<Driver>(python, log);
  driver_->Tell({{"address", request.config.address.value_or("auto")}, {"backplane", request.program}});
  const std::optional<DriverLine> reply = driver_->Await(&DriverLine::IsReplyToStart, kJoins);
  if (!reply)
    throw std::runtime_error(fmt::format("engine.kind ray: {} did not join the cluster{}; see {}", python,
                                         driver_->ended() ? "" : fmt::format(" within {} s", kJoins.count()), log.string()));
  if (reply->error) {
    const std::string why = Shown(*reply->error);
    throw std::runtime_error(
        why.empty() ? fmt::format("engine.kind ray: {} did not join the cluster and gave no reason", python) : why);
  }
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  RequireRoom(*reply->ready);
}

// Sets at_once_. Throws std::runtime_error if Ray could never start a trial with its rollout workers.
void RayEngine::RequireRoom(const nlohmann::json& ready) {
  const auto cluster = ReadTolerantly<RayCluster>(ready);
  ray_job_ = Shown(cluster.job);
  const EngineNeeds& needs = request_.needs;
  const double cpus = cluster.cpus.value_or(0), gpus = cluster.gpus.value_or(0);
  const auto own = static_cast<double>(needs.cpus), all = own + static_cast<double>(needs.worker_cpus);
  const auto memory = static_cast<double>(needs.memory_bytes.value_or(0));
  const std::string trial =
      "a trial needs " + Resources(own, needs.gpus, memory) +
      (needs.worker_cpus > 0 ? fmt::format(" and {} for its rollout workers", Resources(all - own, 0, 0)) : "");
  if (all > cpus || needs.gpus > gpus)
    throw std::runtime_error(fmt::format("{}, but Ray's cluster has {} cores and {} GPUs in total", trial, cpus, gpus));
  const auto fits = [&](const RayNode& node) { return own <= node.cpus && needs.gpus <= node.gpus && memory <= node.memory; };
  const auto fits_worker = [&](const RayNode& node) { return static_cast<double>(needs.largest_worker) <= node.cpus; };
  if (!cluster.sizes.empty() &&
      (std::ranges::none_of(cluster.sizes, fits) || std::ranges::none_of(cluster.sizes, fits_worker))) {
    std::vector<std::string> sizes;
    for (const RayNode& node : cluster.sizes) sizes.push_back(Resources(node.cpus, node.gpus, node.memory));
    sizes.resize(std::min(sizes.size(), kShownNodes));
    throw std::runtime_error(
        fmt::format("{}, but none of Ray's {} nodes has them: {}", trial, cluster.sizes.size(), fmt::join(sizes, "; ")));
  }
  double room = cpus / all;
  if (needs.gpus > 0) room = std::min(room, gpus / needs.gpus);
  at_once_ = std::max<size_t>(1, static_cast<size_t>(room + 1e-9));
  // Queues a few more in Ray, so that it fills a free place without waiting for the supervisor. They would take the cores of
  // rollout workers.
  if (needs.worker_cpus == 0) at_once_ += std::min(at_once_, kWaiting);
  if (request_.jobs) at_once_ = std::min<size_t>(at_once_, *request_.jobs);
}

std::string RayEngine::WhyWaiting() {
  const std::vector<JobId> jobs = Running();
  const bool any_waits = std::ranges::any_of(jobs, [this](JobId job) { return !HasBegun(job); });
  return any_waits ? why_waiting_ : "";
}

RayEngine::~RayEngine() {
  TellEnd("ask");
  driver_.reset();
  RemoveFolder();
}

std::string RayEngine::Open(const std::function<void()>& meanwhile) {
  MakeFolder();
  Announce({"ray", ray_job_});
  driver_->Tell({{"open",
                  {{"folder", at().folder},
                   {"token", token()},
                   {"shared", request_.config.shared},
                   {"out", std::filesystem::absolute(out())}}}});
  const std::optional<DriverLine> reply = driver_->Await(&DriverLine::IsReplyToOpen, kNodesLook, [&] {
    BeAlive();
    meanwhile();
  });
  if (reply && reply->opened->is_string()) return Shown(*reply->opened);
  if (driver_->ended()) return "Ray's driver ended while it searched the nodes for the results folder";
  return InterruptScope::Count() > 0
             ? ""
             : fmt::format("Ray's nodes did not report within {} s whether they see the results folder", kNodesLook.count());
}

void RayEngine::Ordered(const WorkOrder& order) {
  const bool told = driver_->Tell({{"submit",
                                    {{"job", order.job},
                                     {"cpus", order.cores},
                                     {"gpus", order.gpus},
                                     {"memory", order.memory_bytes.value_or(0)},
                                     {"status_file", order.status_file}}}});
  if (!told) throw std::runtime_error("the connection to Ray's cluster is lost");
}

std::vector<FolderEngine::Lost> RayEngine::FindLost() {
  for (const DriverLine& line : driver_->Hear(0)) {
    if (line.lost) lost_.push_back({*line.lost, Shown(line.why)});
    if (line.done) done_[*line.done] = Clock::now();
    if (!line.room) continue;
    const auto room = ReadTolerantly<RayRoom>(*line.room);
    why_waiting_ = fmt::format("Ray: {:g} of {:g} cores{} free on {} {}", room.free_cpus, room.cpus,
                               room.gpus > 0 ? fmt::format(" and {:g} of {:g} GPUs", room.free_gpus, room.gpus) : "",
                               room.nodes, room.nodes == 1 ? "node" : "nodes");
  }
  if (!driver_->ended() && !driver_->Answers(kSilentPings * ClusterPatience())) {
    driver_->Kill();
    LogInfo("warning: Ray's driver did not answer within {} s and was killed; its trials end",
            std::chrono::duration_cast<std::chrono::seconds>(kSilentPings * ClusterPatience()).count());
  }
  for (auto it = done_.begin(); it != done_.end();) {
    const bool late = Clock::now() - it->second > kEndIsSeen;
    if (IsRunning(it->first) && late) lost_.push_back({it->first, "its task ended without a result"});
    it = late || !IsRunning(it->first) ? done_.erase(it) : std::next(it);
  }
  if (driver_->ended())
    for (const JobId job : Running()) lost_.push_back({job, "its node was lost: the connection to Ray's cluster has ended"});
  return std::exchange(lost_, {});
}

}  // namespace backplane
