#include "batch/local_engine.hpp"

#include <fmt/ranges.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <csignal>
#include <cstring>
#include <stdexcept>
#include <thread>

#include "base/pipe.hpp"
#include "machine/process_tree.hpp"
#include "record/status_reader.hpp"
#include "shim/shim.hpp"
#include "shim/shim_protocol.hpp"

namespace backplane {
namespace {

using Clock = std::chrono::steady_clock;

constexpr int kEngineTick_ms = 100;
constexpr std::chrono::seconds kShimEnd{10};    // after the end of its report
constexpr std::chrono::seconds kKilledEnd{10};  // a killed process that waits for a disk ends no sooner
constexpr std::chrono::milliseconds kLookAgain{2};

// Sets torchrun's variables, so that a learner written for it runs unchanged. The command's own values take precedence.
std::vector<std::string> TrialEnvironment(const TrialCommand& command) {
  // Threads belong to the host. Threads of libraries would take the runners' cores.
  std::vector<std::string> ours{"OMP_NUM_THREADS=1",
                                "MKL_NUM_THREADS=1",
                                "RANK=0",
                                "LOCAL_RANK=0",
                                "WORLD_SIZE=1",
                                "LOCAL_WORLD_SIZE=1",
                                "GROUP_RANK=0",
                                "MASTER_ADDR=127.0.0.1",
                                "CUDA_DEVICE_ORDER=PCI_BUS_ID",
                                fmt::format("CUDA_VISIBLE_DEVICES={}", fmt::join(command.allocation.gpus, ","))};
  std::erase_if(ours, [&](const std::string& entry) {
    const std::string name = entry.substr(0, entry.find('=') + 1);
    return std::any_of(command.child.environment.begin(), command.child.environment.end(),
                       [&](const std::string& other) { return other.starts_with(name); });
  });
  ours.insert(ours.end(), command.child.environment.begin(), command.child.environment.end());
  return ours;
}

}  // namespace

struct LocalEngine::Job {
  Job(const ChildCommand& keep, const ChildSetup& setup, std::unique_ptr<Pipe> pipe, const TrialCommand& command)
      : bystanders(ChildrenOf(getpid())),
        report(std::move(pipe)),
        status(command.status_file),
        wake_every(command.silence_limit_s),
        shim(keep, setup) {
    report->CloseWriter();
  }

  // A stopped shim neither ends its trial nor reports its end.
  void WakeShim() {
    if (wake_every.count() <= 0 || Clock::now() - woken < wake_every) return;
    woken = Clock::now();
    ContinueShim();
  }
  void ContinueShim() {
    if (const auto state = StateOf(shim.pid()); state && state->waits_for_continue()) shim.Signal(SIGCONT);
  }

  // Reads the shim's report. False once the report is complete or the shim has ended.
  bool Read() { return report->TakeInto(&text) && !ReportFromText(text).end; }

  const Clock::time_point start = Clock::now();
  const std::vector<pid_t> bystanders;  // earlier children of this process, not part of this job
  std::unique_ptr<Pipe> report;
  std::string text;
  StatusReader status;
  const std::chrono::duration<double> wake_every;  // 0: never
  Clock::time_point woken = start;
  Child shim;
};

LocalEngine::LocalEngine(const std::filesystem::path& program, std::optional<std::filesystem::path> own_group)
    : shim_(program.parent_path() / kShimProgram) {
  if (own_group) {
    cgroup_ = DelegatedGroup(*own_group).value_or(std::filesystem::path());
  }
  if (!cgroup_.empty()) {
    EndGroupsOfDeadShims(cgroup_);
  }
  prctl(PR_GET_CHILD_SUBREAPER, &was_subreaper_);
  prctl(PR_SET_CHILD_SUBREAPER, 1);
}

LocalEngine::~LocalEngine() {
  for (const auto& [id, job] : jobs_) {
    Stop(id, StopHow::kKill);
  }
  for (const auto& [id, job] : jobs_) {
    Finish(id, *job);
  }
  prctl(PR_SET_CHILD_SUBREAPER, was_subreaper_);
}

JobId LocalEngine::Start(const TrialCommand& command) {
  RequireExecutable(command.child.program);
  auto pipe = std::make_unique<Pipe>();
  const ShimOrder order{.report_fd = pipe->writer(),
                        .grace_s = command.grace_s,
                        .cores = command.allocation.cores,
                        .memory_bytes = command.allocation.memory_bytes,
                        .lock_fd = command.trial_lock_fd,
                        .cgroup = cgroup_,
                        .program = command.child.program,
                        .arguments = command.child.arguments,
                        .status_file = command.status_file,
                        .silence_limit_s = command.silence_limit_s};
  ChildCommand keep = command.child;
  keep.program = shim_;
  keep.arguments = ToArguments(order);
  keep.environment = TrialEnvironment(command);
  if (command.trial_lock_fd >= 0) {
    keep.inherit_fds.push_back(command.trial_lock_fd);
  }
  const ChildSetup setup{.report_fd = pipe->writer(), .blocked_signals = ShimSignals()};
  jobs_[++last_] = std::make_unique<Job>(keep, setup, std::move(pipe), command);
  return last_;
}

void LocalEngine::Stop(JobId job, StopHow how) {
  const auto found = jobs_.find(job);
  if (found != jobs_.end()) {
    found->second->shim.Signal(how == StopHow::kAsk ? SIGTERM : how == StopHow::kKill ? SIGQUIT : SIGUSR1);
    found->second->shim.Signal(SIGCONT);  // a stopped shim handles no signal
  }
}

std::optional<StatusFile> LocalEngine::Status(JobId job) {
  const auto found = jobs_.find(job);
  return found != jobs_.end() ? found->second->status.Read() : std::nullopt;
}

std::vector<JobEnd> LocalEngine::Wait(int timeout_ms) {
  std::vector<pollfd> watched;
  std::vector<JobId> ids;
  for (const auto& [id, job] : jobs_) {
    job->WakeShim();
    watched.push_back({job->report->reader(), POLLIN, 0});
    ids.push_back(id);
  }
  std::vector<JobEnd> ended;
  const Clock::time_point until = Clock::now() + std::chrono::milliseconds(timeout_ms);
  do {
    const auto left = std::chrono::ceil<std::chrono::milliseconds>(until - Clock::now()).count();
    if (poll(watched.data(), watched.size(), static_cast<int>(std::max<int64_t>(left, 0))) <= 0) {
      break;
    }
    for (size_t i = 0; i < watched.size(); ++i) {
      Job& job = *jobs_.at(ids[i]);
      if (watched[i].revents != 0 && !job.Read()) {
        ended.push_back(Finish(ids[i], job));
      }
    }
  } while (ended.empty());  // a report that a trial has started ends no job
  for (const JobEnd& end : ended) {
    jobs_.erase(end.job);
  }
  return ended;
}

JobEnd LocalEngine::Finish(JobId id, Job& job) {
  // The shim ends right after its report. A signal handler may run meanwhile.
  std::optional<ChildExit> shim;
  for (const auto until = Clock::now() + kShimEnd; !(shim = job.shim.Wait(kEngineTick_ms));) {
    if (Clock::now() < until)
      job.ContinueShim();
    else
      job.shim.Signal(SIGKILL);
  }
  job.Read();
  JobEnd end;
  end.job = id;
  end.wall_s = std::chrono::duration<double>(Clock::now() - job.start).count();
  end.status = job.status.Read();
  if (const auto stuck = ReportFromText(job.text).stuck) end.stuck = SentenceOf(*stuck);
  if (const auto report = ReportFromText(job.text).end) {
    end.exit = {report->code, report->signal, report->peak_rss_bytes};
    end.peak_rss_bytes = report->peak_rss_bytes;
    end.peak_memory_bytes = report->peak_memory_bytes;
    end.over_memory = report->over_memory;
    end.memory_enforced_by = report->memory_enforced_by;
    end.over_silence = report->over_silence;
    end.left = report->left;
    return end;
  }
  end.exit = *shim;
  if (const auto failure = ReportFromText(job.text).failure) {
    end.not_started = failure->sentence;
    return end;
  }
  // The shim was killed. The kernel has killed the trial too and made its children ours.
  if (!cgroup_.empty()) {
    EndGroup(GroupOfShim(cgroup_, job.shim.pid()));
  }
  EndOrphans(job);
  return end;
}

bool LocalEngine::IsShim(pid_t pid) const {
  return std::any_of(jobs_.begin(), jobs_.end(), [&](const auto& entry) { return entry.second->shim.pid() == pid; });
}

// Each killed process hands its children to us, so the rounds equal the depth of the tree. Other jobs' processes are below
// their shims; orphans of other killed shims must end too.
void LocalEngine::EndOrphans(const Job& job) const {
  const auto trial = ReportFromText(job.text).start;
  const Clock::time_point until = Clock::now() + kKilledEnd;
  do {
    std::vector<pid_t> orphans = ChildrenOf(getpid());
    std::erase_if(orphans, [&](pid_t pid) {
      return IsShim(pid) || std::find(job.bystanders.begin(), job.bystanders.end(), pid) != job.bystanders.end();
    });
    if (orphans.empty()) {
      return;
    }
    for (const pid_t pid : orphans) {
      if (trial && trial->pid == pid) {
        kill(-pid, SIGKILL);  // not reaped yet, so the number still belongs to its group
      }
      kill(pid, SIGKILL);
      waitpid(pid, nullptr, WNOHANG | __WALL);
    }
    std::this_thread::sleep_for(kLookAgain);
  } while (Clock::now() < until);
}

}  // namespace backplane
