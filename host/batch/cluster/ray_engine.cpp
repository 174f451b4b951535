#include "cluster/ray_engine.hpp"

#include <fmt/format.h>

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
constexpr size_t kWaiting = 8;
constexpr int kSilentPings = 2;  // in units of the patience for a cluster's program
constexpr int kLookForReplies_ms = 100;
constexpr int kDriverEnds_ms = 5000, kEndsAfterStop_ms = 1000;
constexpr double kPingEvery_s = 5;
constexpr size_t kMostUnread = 16 << 20, kShownSentence = 500;

std::string Shown(const nlohmann::json& text) {
  return text.is_string() ? Printable(text.get<std::string>(), kShownSentence) : "";
}

struct RayCluster {
  std::string job;
  std::optional<double> cpus, gpus;

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("job", self.job);
    visit("cpus", self.cpus);
    visit("gpus", self.gpus);
  }
};

}  // namespace

// A line of the driver's output.
struct RayEngine::DriverLine {
  std::optional<nlohmann::json> ready, error, opened;  // RayCluster, texts
  std::optional<JobId> lost, done, pong;
  nlohmann::json why;  // a text, with `lost`

  bool IsReplyToStart() const { return ready || error; }
  bool IsReplyToOpen() const { return opened.has_value(); }

  static constexpr void Fields(auto& self, auto&& visit) {
    visit("ready", self.ready);
    visit("error", self.error);
    visit("opened", self.opened);
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
  const auto cluster = ReadTolerantly<RayCluster>(*reply->ready);
  ray_job_ = Shown(cluster.job);
  const EngineNeeds& needs = request.needs;
  const double cpus = cluster.cpus.value_or(0), gpus = cluster.gpus.value_or(0);
  if (static_cast<double>(needs.cpus) > cpus || needs.gpus > gpus)
    throw std::runtime_error(fmt::format("a trial needs {} cores and {} GPUs, but Ray's cluster has {} and {} in total",
                                         needs.cpus, needs.gpus, cpus, gpus));
  double room = cpus / static_cast<double>(needs.cpus);
  if (needs.gpus > 0) room = std::min(room, gpus / needs.gpus);
  const auto places = std::max<size_t>(1, static_cast<size_t>(room + 1e-9));
  // Queues a few more in Ray, so that it fills a free place without waiting for the supervisor.
  at_once_ = places + std::min(places, kWaiting);
  if (request.jobs) at_once_ = std::min<size_t>(at_once_, *request.jobs);
}

RayEngine::~RayEngine() {
  TellEnd("ask");
  driver_.reset();
  RemoveFolder();
}

std::string RayEngine::Open() {
  MakeFolder();
  Announce({"ray", ray_job_});
  driver_->Tell({{"open",
                  {{"folder", at().folder},
                   {"token", token()},
                   {"shared", request_.config.shared},
                   {"out", std::filesystem::absolute(out())}}}});
  const std::optional<DriverLine> reply = driver_->Await(&DriverLine::IsReplyToOpen, kNodesLook, [this] { BeAlive(); });
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
