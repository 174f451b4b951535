// Runs one monitor on its own thread, which makes all of its calls. A monitor that is slow, hangs or fails harms only itself.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backplane/ext/verdict.h"
#include "backplane/monitor.h"
#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "record/trial_result.hpp"
#include "rollout/instance.hpp"

namespace backplane {

// Names of events. They live until the last monitor that may read them ends.
using EventNames = std::set<std::string>;

// Time limits of a trial's wait for its monitors.
struct MonitorPatience {
  int64_t start_ns = 5'000'000'000;  // for create and interests of each; a driver may take some seconds to initialize
  int64_t end_ns = 10'000'000'000;   // for the last events, finish and destroy, in total

  // At most these values, and shorter than resources.hang_timeout, because a hung monitor must not look like a hung trial.
  static MonitorPatience Within(double hang_timeout_s);
};

class MonitorThread {
 public:
  static constexpr size_t kSpanLimit = 1 << 17;  // queued PHASE events, about 16 MiB

  // Creates the monitor. Throws TrialFailure if it rejects its options. After other errors it is switched off. If it takes
  // longer than `patience`, it joins when ready.
  MonitorThread(const LoadedModule& module, const std::string& id, const HostSinks& sinks, const InstanceOptions& options,
                std::shared_ptr<EventNames> names, const MonitorPatience& patience);
  // If the thread does not end in time, leaves it behind with all its data.
  ~MonitorThread();
  MonitorThread(const MonitorThread&) = delete;

  void Start();  // events and samples start now

  bool Wants(uint32_t type) const { return (state_->interests & (uint64_t{1} << type)) != 0; }    // [any]
  void Post(const bp_event& event, const std::string& detail) { PostTogether({event}, detail); }  // [any]
  // Filters the events by its interests and delivers them in one call of on_events. [any]
  void PostTogether(const std::vector<bp_event>& events, const std::string& detail = "");
  void PostSpans(const std::vector<bp_event>& spans);  // [any]

  // Orders it to deliver the queue, call finish(out_dir) unless that is empty, and destroy the monitor. Does not wait.
  void AskToEnd(const std::filesystem::path& out_dir);
  // True: it has ended, or is stuck in exit(). False: it has not by `until_ns`, or one call takes longer than `patience_ns`.
  bool AwaitEnd(int64_t until_ns, int64_t patience_ns);
  // Stops waiting for it and adds a warning with its current call.
  void LeaveBehind();

  // Call if a plugin calls exit() on this thread. On a monitor's thread, keeps the sentence, switches the monitor off and never
  // returns; the trial runs on without it and ends on its own thread.
  static void ParkWhereItExits(const std::string& sentence);

  // True on a monitor's thread. [any]
  static bool RunsHere() { return tls_state != nullptr; }

  const std::string& id() const { return state_->services.plugin_id(); }
  bool ended() const;
  uint64_t dropped() const;                   // events dropped because the queue was full
  int64_t cpu_ns() const;                     // CPU time of its thread so far
  std::vector<std::string> warnings() const;  // sentences for the user
  std::optional<EndedBy> verdict() const;     // absent: the trial continues. [any]

 private:
  struct Stored {
    bp_event event;
    std::string detail;
  };
  // The thread's data. The thread shares ownership until it ends, so the data outlives all other objects.
  struct State {
    State(const std::string& id, const HostSinks& all_sinks, const InstanceOptions& instance_options)
        : sinks(all_sinks), services(id, &sinks), options(instance_options) {}

    const HostSinks sinks;
    HostServices services;
    InstanceOptions options;
    std::shared_ptr<EventNames> names;
    const bp_monitor_api* api = nullptr;
    bp_monitor* instance = nullptr;  // only used by the thread, like the next two
    const bp_monitor_verdict_1* verdicts = nullptr;
    bool on = true;
    std::atomic<uint64_t> interests{0};

    mutable std::mutex mutex;  // guards the members below
    std::condition_variable changed;
    std::vector<Stored> queue;
    size_t spans_waiting = 0;  // in the queue
    uint64_t dropped = 0;
    bool ready = false, started = false, stop = false, ended = false;
    bool late = false;       // the trial no longer waits for its readiness
    bool gone = false;       // its thread is stuck in exit()
    const char* doing = "";  // the current call; empty: none
    int64_t doing_since_ns = 0, asked_to_end_ns = 0, cpu_ns = 0;
    std::filesystem::path out_dir;
    std::exception_ptr refused;
    std::vector<std::string> warnings;
    std::optional<EndedBy> verdict;
  };

  static void Work(const std::shared_ptr<State>& state);
  static void Create(State& state);
  static void Listen(State& state);
  static void Deliver(State& state, const std::vector<Stored>& events);
  static void AskInterests(State& state);
  static void FindVerdicts(State& state);
  static void AskVerdict(State& state);
  template <class Function>
  static void Call(State& state, const char* doing, Function&& function);
  static void SwitchOff(State& state, const std::string& why);
  static void Warn(State& state, const std::string& sentence);

  static inline constinit thread_local State* tls_state = nullptr;  // the monitor of this thread
  std::shared_ptr<State> state_;
  std::thread thread_;  // joinable while the trial waits for it
  const int64_t destroy_patience_ns_;
  int64_t left_behind_cpu_ns_ = 0;
};

}  // namespace backplane
