#include "cluster/ray_engine.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <functional>
#include <stdexcept>

#include "base/child.hpp"
#include "base/python.hpp"
#include "base/run_process.hpp"
#include "base/scratch_folder.hpp"
#include "cluster/ray_driver_source.hpp"
#include "log/log.hpp"
#include "supervise/interrupt.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::chrono::seconds kJoins{120};     // a first import of Ray from a cold disk
constexpr std::chrono::seconds kNodesLook{60};  // at the folder
constexpr std::chrono::seconds kEndIsSeen{10};  // between the end of a task and what its node has written
constexpr size_t kWaiting = 8;
constexpr int kLookForReplies_ms = 100;
constexpr int kDriverEnds_ms = 5000;

}  // namespace

// The process and the lines between it and us.
class RayEngine::Driver {
 public:
  Driver(const std::string& python, const std::filesystem::path& log) : pipes_(MakePipes()), child_(Command(python, log)) {
    close(std::exchange(pipes_.in[0], -1));
    close(std::exchange(pipes_.out[1], -1));
  }
  ~Driver() {
    close(pipes_.in[1]);
    child_.Wait(kDriverEnds_ms);
    close(pipes_.out[0]);
  }
  Driver(const Driver&) = delete;

  // False: it is dead.
  bool Tell(const nlohmann::json& what) {
    const std::string line = what.dump() + "\n";
    for (size_t sent = 0; sent < line.size();) {
      const ssize_t n = write(pipes_.in[1], line.data() + sent, line.size() - sent);
      if (n < 0 && errno == EINTR) continue;
      if (n < 0) return false;
      sent += static_cast<size_t>(n);
    }
    return true;
  }

  // What has come since the last call, waiting for it at most so long.
  std::vector<nlohmann::json> Hear(int timeout_ms) {
    pollfd watched{pipes_.out[0], POLLIN, 0};
    if (poll(&watched, 1, timeout_ms) > 0) Read();
    std::vector<nlohmann::json> lines;
    for (size_t end; (end = text_.find('\n')) != std::string::npos; text_.erase(0, end + 1)) {
      auto line = nlohmann::json::parse(text_.substr(0, end), nullptr, /*allow_exceptions=*/false);
      if (line.is_object()) lines.push_back(std::move(line));
    }
    return lines;
  }
  bool ended() const { return ended_; }

  // Waits for the line with one of these keys. Null: it ended, the time is over, or a Ctrl-C came.
  nlohmann::json Await(std::initializer_list<const char*> keys, std::chrono::seconds at_most,
                       const std::function<void()>& meanwhile = {}) {
    for (const auto until = Clock::now() + at_most; Clock::now() < until && InterruptScope::Count() == 0;) {
      if (meanwhile) meanwhile();
      for (const nlohmann::json& line : Hear(kLookForReplies_ms))
        for (const char* key : keys)
          if (line.contains(key)) return line;
      if (ended_) break;
    }
    return nullptr;
  }

 private:
  struct Pipes {
    int in[2], out[2];
  };

  static Pipes MakePipes() {
    Pipes pipes;
    if (pipe2(pipes.in, O_CLOEXEC) != 0 || pipe2(pipes.out, O_CLOEXEC) != 0)
      throw std::runtime_error(std::string("cannot make a pipe: ") + std::strerror(errno));
    fcntl(pipes.out[0], F_SETFL, O_NONBLOCK);
    return pipes;
  }

  // Its input stays open as a descriptor that it is told of: a child's standard input is nobody's.
  ChildCommand Command(const std::string& python, const std::filesystem::path& log) {
    ChildCommand command;
    command.program = python;
    command.arguments = {
        "-c", fmt::format("import os\nos.dup2({}, 0)\nos.dup2({}, 1)\nimport sys\nsys.stdin = os.fdopen(0)\n{}", pipes_.in[0],
                          pipes_.out[1], kRayDriver)};
    command.environment = {"RAY_ENABLE_UV_RUN_RUNTIME_ENV=0"};
    command.stdout_file = command.stderr_file = log;
    command.inherit_fds = {pipes_.in[0], pipes_.out[1]};
    return command;
  }

  void Read() {
    char buffer[4096];
    for (;;) {
      const ssize_t n = read(pipes_.out[0], buffer, sizeof buffer);
      if (n > 0) {
        text_.append(buffer, static_cast<size_t>(n));
      } else if (n == 0 || errno != EINTR) {
        ended_ = ended_ || n == 0;
        return;
      }
    }
  }

  Pipes pipes_;
  Child child_;
  std::string text_;
  bool ended_ = false;
};

// The driver says the same, once it is there.
std::string RayEngine::WhyNot(const EngineConfig& config) {
  const std::string python = config.python.value_or(FindPython());
  const ProcessEnd run = RunProcess(
      {.words = {python, "-c", "import importlib.util as u, sys; sys.exit(3 if u.find_spec('ray') is None else 0)"}});
  if (run.ok()) return "";
  if (!run.started || run.code != 3)
    return fmt::format("engine.kind ray: {} is no Python that runs; engine.python names another interpreter", python);
  return fmt::format(
      "engine.kind ray: {} has no package ray; `{} -m pip install ray` installs it, engine.python names another interpreter",
      python, python);
}

RayEngine::RayEngine(const EngineRequest& request) : FolderEngine(request.out), request_(request) {
  const std::string python = request.config.python.value_or(FindPython());
  const std::filesystem::path folder = MakeTemporaryFolder("backplane-ray"), log = folder / "driver.log";
  driver_ = std::make_unique<Driver>(python, log);
  driver_->Tell({{"address", request.config.address.value_or("auto")}, {"backplane", request.program}});
  const nlohmann::json reply = driver_->Await({"ready", "error"}, kJoins);
  if (!reply.is_object() || reply.contains("error"))
    throw std::runtime_error(reply.is_object()
                                 ? reply["error"].get<std::string>()
                                 : fmt::format("engine.kind ray: {} could not be asked; see {}", python, log.string()));
  std::error_code error;
  std::filesystem::remove_all(folder, error);
  const nlohmann::json& ready = reply["ready"];
  ray_job_ = ready.value("job", "");
  const EngineNeeds& needs = request.needs;
  const double cpus = ready.value("cpus", 0.0), gpus = ready.value("gpus", 0.0);
  if (static_cast<double>(needs.cpus) > cpus || needs.gpus > gpus)
    throw std::runtime_error(fmt::format("a trial wants {} cores and {} GPUs; Ray's cluster has {} and {} in all", needs.cpus,
                                         needs.gpus, cpus, gpus));
  double room = cpus / static_cast<double>(needs.cpus);
  if (needs.gpus > 0) room = std::min(room, gpus / needs.gpus);
  const auto places = std::max<size_t>(1, static_cast<size_t>(room + 1e-9));
  // A few more wait in Ray's own queue, so that a place is filled again without a word from us.
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
  const nlohmann::json reply = driver_->Await({"opened"}, kNodesLook, [this] { BeAlive(); });
  if (reply.is_object()) return reply["opened"].get<std::string>();
  return InterruptScope::Count() > 0 ? "" : "Ray's nodes did not answer when they were asked for the results folder";
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
  for (const nlohmann::json& line : driver_->Hear(0)) {
    if (line.contains("lost")) lost_.push_back({line["lost"].get<JobId>(), line.value("why", "")});
    if (line.contains("done")) done_[line["done"].get<JobId>()] = Clock::now();
  }
  for (auto it = done_.begin(); it != done_.end();) {
    const bool late = Clock::now() - it->second > kEndIsSeen;
    if (IsRunning(it->first) && late) lost_.push_back({it->first, "its task ended without a word of how"});
    it = late || !IsRunning(it->first) ? done_.erase(it) : std::next(it);
  }
  if (driver_->ended())
    for (const JobId job : Running()) lost_.push_back({job, "its node was lost: the connection to Ray's cluster has ended"});
  return std::exchange(lost_, {});
}

}  // namespace backplane
