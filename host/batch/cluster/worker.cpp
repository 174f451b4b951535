#include "cluster/worker.hpp"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <unistd.h>

#include <chrono>
#include <cmath>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <map>
#include <set>
#include <stdexcept>
#include <thread>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/interrupt.hpp"
#include "base/process.hpp"
#include "batch/local_engine.hpp"
#include "cluster/core_claims.hpp"
#include "cluster/work_folder.hpp"
#include "contract/trial_spec.hpp"
#include "machine/cpu.hpp"
#include "record/results_folder.hpp"
#include "text/split_list.hpp"
#include "text/units.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::milliseconds;

constexpr milliseconds kLookBusy{100}, kLookIdle{200}, kLookKeen{10};
constexpr std::chrono::seconds kKeen{2};      // after the last job another one usually follows
constexpr std::chrono::seconds kIdleEnd{60};  // then other users get the node
constexpr std::chrono::seconds kSupervisorGone{30};
constexpr std::chrono::seconds kLockPatience{40};  // for a worker on a lost node that still ends its trial
constexpr std::chrono::seconds kFlushEvery{1}, kSignEvery{2};

// The arguments of `backplane work`:
//   --folder=DIR --token=TEXT   the session's folder, and the content of its file `session`
//   --worker=NAME               a unique name
//   --slots=N                   orders that run at the same time
//   --job=N                     runs only this order; otherwise all until a message ends the worker
struct WorkArguments {
  WorkFolder at;
  std::string token, worker;
  size_t slots = 1;
  std::optional<JobId> only;
};

// Throws std::runtime_error.
WorkArguments ReadWorkArguments(const std::vector<std::string>& arguments) {
  WorkArguments read;
  for (const std::string& argument : arguments) {
    const size_t equals = argument.find('=');
    const std::string key = argument.substr(0, equals), value = equals == std::string::npos ? "" : argument.substr(equals + 1);
    const std::optional<int64_t> number = ParseInteger(value);
    if (key == "--folder") {
      read.at.folder = value;
    } else if (key == "--token") {
      read.token = value;
    } else if (key == "--worker") {
      read.worker = value;
    } else if (key == "--slots" && number && *number > 0) {
      read.slots = static_cast<size_t>(*number);
    } else if (key == "--job" && number && *number > 0) {
      read.only = static_cast<JobId>(*number);
    } else {
      throw std::runtime_error("work: unknown argument '" + argument + "'; only engines call this command");
    }
  }
  if (read.at.folder.empty() || read.worker.empty()) throw std::runtime_error("work: expected --folder=DIR and --worker=NAME");
  return read;
}

// Devices that the cluster granted to this process, from the variable that CUDA reads.
std::vector<std::string> GivenGpus() {
  const char* const text = std::getenv("CUDA_VISIBLE_DEVICES");
  return text == nullptr || std::string(text) == "NoDevFiles" ? std::vector<std::string>() : SplitList(text);
}

template <class T>
std::vector<T> TakeFrom(std::vector<T>* free, size_t count) {
  if (free->size() < count) return {};
  std::vector<T> taken(free->end() - static_cast<ptrdiff_t>(count), free->end());
  free->resize(free->size() - count);
  return taken;
}

std::string HostName() { return ThisProcess().hostname; }

class Worker {
 public:
  explicit Worker(const WorkArguments& arguments)
      : arguments_(arguments),
        at_(arguments.at),
        engine_(std::filesystem::read_symlink("/proc/self/exe")),
        claims_(GrantedCpus(), CoresWanted()),
        cores_(claims_.cores()),
        gpus_(GivenGpus()),
        hello_{HostName(), getpid(), cores_} {
    Beat();
  }

  ~Worker() {
    std::error_code error;
    std::filesystem::remove(at_.workers() / arguments_.worker, error);
  }

  void Run() {
    while (!Done()) {
      HearStops();
      HearEnd();
      BeatAgain();
      while (MayTake() && TakeOne()) {
      }
      Flush();
      Await();
    }
  }

 private:
  struct Running {
    JobId job = 0;
    std::filesystem::path status_file;
    std::vector<int> cores;
    std::vector<std::string> gpus;
    int lock_fd = -1;
  };

  // Cores that the cluster granted for all slots together. If unknown, one core per slot.
  size_t CoresWanted() const {
    const char* const granted = std::getenv("SLURM_CPUS_PER_TASK");
    const auto number = granted == nullptr ? std::nullopt : ParseInteger(granted);
    if (number && *number > 0) return static_cast<size_t>(*number);
    if (!arguments_.only) return arguments_.slots;
    const auto order = ReadOrder(at_.order(*arguments_.only));
    return order ? static_cast<size_t>(order->cores) : 1;
  }

  static std::optional<WorkOrder> ReadOrder(const std::filesystem::path& file) {
    const auto json = nlohmann::json::parse(ReadFile(file).value_or(""), nullptr, /*allow_exceptions=*/false);
    return RecordOrNothing<WorkOrder>(json);
  }

  bool MayTake() const { return !ending_ && !alone_ && running_.size() < arguments_.slots && !(arguments_.only && taken_ > 0); }

  bool Done() const {
    if (!running_.empty()) return false;
    return ending_ || alone_ || (arguments_.only && taken_ > 0) || Clock::now() - last_job_ > kIdleEnd;
  }

  void BeatAgain() {
    if (Clock::now() - last_beat_ < kSignEvery) return;
    try {
      Beat();
    } catch (const std::exception&) {  // the supervisor has removed the folder, or the disk is full
    }
  }

  void Beat() {
    last_beat_ = Clock::now();
    ++hello_.beats;
    ReplaceFile(at_.workers() / arguments_.worker, ToJson(hello_).dump());
  }

  // Returns false if there is no order.
  bool TakeOne() {
    for (const std::string& name : NamesIn(at_.orders())) {
      const auto job = WorkFolder::Job(name);
      if (!job || (arguments_.only && *job != *arguments_.only)) continue;
      std::error_code lost;
      const std::filesystem::path mine = at_.taken_by(*job, arguments_.worker);
      std::filesystem::rename(at_.orders() / name, mine, lost);
      if (lost) continue;  // another worker was faster
      ++taken_;
      last_job_ = Clock::now();
      Start(*job, mine);
      return true;
    }
    if (arguments_.only) ending_ = true;  // the supervisor has withdrawn it
    return false;
  }

  void Start(JobId job, const std::filesystem::path& order_file) {
    const std::optional<WorkOrder> order = ReadOrder(order_file);
    Running running;
    running.job = job;
    try {
      if (!order) throw std::runtime_error("cannot read the order to start the trial: " + order_file.string());
      running.status_file = order->status_file;
      running.lock_fd = Lock(order->lock_file);
      running.cores = TakeFrom(&cores_, order->cores);
      running.gpus = TakeFrom(&gpus_, static_cast<size_t>(std::ceil(order->gpus)));
      TrialCommand command;
      command.child.program = order->program;
      command.child.arguments = order->arguments;
      command.child.environment = order->environment;
      command.child.stdout_file = order->stdout_file;
      command.child.stderr_file = order->stderr_file;
      command.allocation = {running.cores, running.gpus, order->memory_bytes};
      command.grace_s = order->grace_s;
      command.silence_limit_s = order->silence_limit_s;
      command.status_file = order->status_file;
      command.trial_lock_fd = running.lock_fd;
      running_[engine_.Start(command)] = running;
    } catch (const std::exception& error) {
      WorkEnd end;
      end.not_started = WordsOf(error);
      Ended(running, end);
    }
  }

  // -1: none. The holder's node counted as lost too early, and the holder has an order to end.
  static int Lock(const std::filesystem::path& file) {
    if (file.empty()) return -1;
    const int fd = open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0644);
    if (fd < 0) throw std::runtime_error("cannot open " + file.string());
    const auto until = Clock::now() + kLockPatience;
    while (flock(fd, LOCK_EX | LOCK_NB) != 0 && errno == EWOULDBLOCK) {
      if (Clock::now() > until || InterruptScope::Count() > 0) {
        close(fd);
        throw std::runtime_error(
            "the trial still runs on a different node that the cluster reported as lost: " + file.string() + " is locked");
      }
      std::this_thread::sleep_for(kLookBusy);
    }
    return fd;
  }

  void HearStops() {
    for (const std::string& name : NamesIn(at_.stop())) {
      const auto order = WorkFolder::Stop(name);
      if (!order) continue;
      const auto found =
          std::find_if(running_.begin(), running_.end(), [&](const auto& one) { return one.second.job == order->job; });
      if (found != running_.end() && heard_.insert(name).second) engine_.Stop(found->first, order->how);
    }
  }

  // The cluster announces the end by SIGTERM.
  void HearEnd() {
    const std::string said = ReadFile(at_.end()).value_or("");
    std::error_code error;
    const bool gone = !std::filesystem::exists(at_.session(), error);
    const int interrupts = InterruptScope::Count();
    const int asked = std::max(interrupts, said == "kill" ? 2 : said == "ask" || gone ? 1 : 0);
    preempted_ = preempted_ || (interrupts > 0 && said.empty() && !gone);
    if (asked > asked_) {
      for (const auto& [id, running] : running_) engine_.Stop(id, asked >= 2 ? StopHow::kKill : StopHow::kAsk);
      asked_ = asked;
    }
    ending_ = ending_ || asked > 0;
    if (const std::string now = ReadFile(at_.alive()).value_or(""); now != alive_) {
      alive_ = now;
      last_sign_ = Clock::now();
    }
    alone_ = Clock::now() - last_sign_ > kSupervisorGone;
  }

  // The trial maps its status file. A network file system sends mapped pages to other nodes only after a flush.
  void Flush() {
    if (Clock::now() - last_flush_ < kFlushEvery) return;
    last_flush_ = Clock::now();
    for (const auto& [id, running] : running_) {
      const int fd = open(running.status_file.c_str(), O_RDWR | O_CLOEXEC);
      if (fd < 0) continue;
      fdatasync(fd);
      close(fd);
    }
  }

  void Await() {
    if (running_.empty()) {
      std::this_thread::sleep_for(Clock::now() - last_job_ < kKeen ? kLookKeen : kLookIdle);
      return;
    }
    const bool keen = running_.size() < arguments_.slots && Clock::now() - last_job_ < kKeen;
    for (const JobEnd& end : engine_.Wait(static_cast<int>((keen ? kLookKeen : kLookBusy).count()))) {
      const Running running = running_.at(end.job);
      running_.erase(end.job);
      WorkEnd told{end.exit.code, end.exit.signal, end.not_started, "", end.memory_enforced_by, ""};
      told.wall_s = end.wall_s;
      told.peak_rss_bytes = end.peak_rss_bytes;
      told.peak_memory_bytes = end.peak_memory_bytes;
      told.over_memory = end.over_memory;
      told.over_silence = end.over_silence;
      told.stuck = end.stuck;
      told.left = end.left;
      // Preemption may have come after the trial's end; finished work counts.
      if (preempted_) told.lost = "the cluster took its node back";
      Ended(running, told);
    }
  }

  void Ended(const Running& running, WorkEnd end) {
    end.host = HostName();
    if (running.lock_fd >= 0) close(running.lock_fd);
    cores_.insert(cores_.end(), running.cores.begin(), running.cores.end());
    gpus_.insert(gpus_.end(), running.gpus.begin(), running.gpus.end());
    last_job_ = Clock::now();
    std::error_code error;
    try {
      ReplaceFile(at_.ended(running.job), ToJson(end).dump());
      std::filesystem::remove(at_.taken_by(running.job, arguments_.worker), error);
    } catch (const std::exception& failed) {  // the supervisor notices our end, and the trial's files count
      std::fprintf(stderr, "backplane: work: %s\n", WordsOf(failed).c_str());
    }
  }

  const WorkArguments& arguments_;
  const WorkFolder& at_;
  const InterruptScope interrupts_;
  LocalEngine engine_;
  CoreClaims claims_;
  std::vector<int> cores_;         // free cores
  std::vector<std::string> gpus_;  // free devices
  WorkerHello hello_;
  std::map<JobId, Running> running_;  // by the engine's number
  std::set<std::string> heard_;       // stops that were passed on
  size_t taken_ = 0;
  bool ending_ = false, alone_ = false, preempted_ = false;
  int asked_ = 0;  // requests to end; 2: immediately
  std::string alive_;
  Clock::time_point last_sign_ = Clock::now(), last_job_ = Clock::now(), last_flush_ = Clock::now(), last_beat_;
};

}  // namespace

int Work(const std::vector<std::string>& arguments) {
  try {
    const pid_t parent = getppid();
    prctl(PR_SET_PDEATHSIG, SIGTERM);
    if (getppid() != parent) return kExitTemp;  // the parent died before that
    const WorkArguments read = ReadWorkArguments(arguments);
    if (ReadFile(read.at.session()).value_or("") != read.token) {
      throw std::runtime_error("work: " + read.at.folder.string() +
                               " is not the supervisor's folder: the nodes do not share a file system");
    }
    Worker(read).Run();
    return kExitOk;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "backplane: %s\n", WordsOf(error).c_str());
    return kExitUsage;
  }
}

}  // namespace backplane
