// One monitor on a thread of its own, on which all of its calls are made: one that is slow, hangs or fails costs itself alone.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <filesystem>
#include <memory>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "backplane/monitor.h"
#include "plugin/host_services.hpp"
#include "plugin/loader.hpp"
#include "rollout/instance.hpp"

namespace backplane {

// Names of events, which live to the end of the last monitor that may look at them.
using EventNames = std::set<std::string>;

// How long a trial waits for its monitors.
struct MonitorPatience {
  int64_t start_ns = 5'000'000'000;  // for create and interests of each; a driver may take some seconds to wake up
  int64_t end_ns = 10'000'000'000;   // for the last events, finish and destroy of all of them

  // At most these, and shorter than resources.hang_timeout: a monitor that hangs must not look like a trial that hangs.
  static MonitorPatience Within(double hang_timeout_s);
};

class MonitorThread {
 public:
  static constexpr size_t kSpanLimit = 1 << 17;  // PHASE events that may wait for it, about 16 MiB

  // Creates the monitor. Throws TrialFailure if it refuses its options; one that fails otherwise is switched off, and one that
  // takes longer than `patience` joins when it is ready.
  MonitorThread(const LoadedModule& module, const std::string& id, const HostSinks& sinks, const InstanceOptions& options,
                std::shared_ptr<EventNames> names, const MonitorPatience& patience);
  // Leaves a thread behind that does not end in time, with all that it looks at.
  ~MonitorThread();
  MonitorThread(const MonitorThread&) = delete;

  void Start();  // from now on it gets events and samples

  bool Wants(uint32_t type) const { return (state_->interests & (uint64_t{1} << type)) != 0; }    // [any]
  void Post(const bp_event& event, const std::string& detail) { PostTogether({event}, detail); }  // [any]
  // Those that it wants, which it gets in one call of on_events. [any]
  void PostTogether(const std::vector<bp_event>& events, const std::string& detail = "");
  void PostSpans(const std::vector<bp_event>& spans);  // [any]

  // Has it deliver what waits, then finish(out_dir) unless that is empty, then destroy. Returns at once.
  void AskToEnd(const std::filesystem::path& out_dir);
  // True: it has ended, or called exit() and will not. False: it has not by `until_ns`, or is in one call for `patience_ns`.
  bool AwaitEnd(int64_t until_ns, int64_t patience_ns);
  // It is not waited for any more: a warning says in which call it is.
  void LeaveBehind();

  // A plugin has called exit() on this thread. If that is a monitor's, its sentence is kept, the monitor is switched off, and
  // this never returns: the trial goes on without it, and ends on its own thread.
  static void ParkWhereItExits(const std::string& sentence);

  // This thread is a monitor's. [any]
  static bool RunsHere() { return tls_state != nullptr; }

  const std::string& id() const { return state_->services.plugin_id(); }
  bool ended() const;
  uint64_t dropped() const;                   // events that found no room
  int64_t cpu_ns() const;                     // that its thread took so far
  std::vector<std::string> warnings() const;  // sentences for the user

 private:
  struct Stored {
    bp_event event;
    std::string detail;
  };
  // What the thread works with: its own as long as it runs, whoever else has gone.
  struct State {
    State(const std::string& id, const HostSinks& all_sinks, const InstanceOptions& instance_options)
        : sinks(all_sinks), services(id, &sinks), options(instance_options) {}

    const HostSinks sinks;
    HostServices services;
    InstanceOptions options;
    std::shared_ptr<EventNames> names;
    const bp_monitor_api* api = nullptr;
    bp_monitor* instance = nullptr;  // the thread's own, as is `on`
    bool on = true;
    std::atomic<uint64_t> interests{0};

    mutable std::mutex mutex;  // guards what follows
    std::condition_variable changed;
    std::vector<Stored> queue;
    size_t spans_waiting = 0;  // of the queue
    uint64_t dropped = 0;
    bool ready = false, started = false, stop = false, ended = false;
    bool late = false;       // nobody waits for it to be ready any more
    bool gone = false;       // its thread is in exit() and comes to no end
    const char* doing = "";  // the call it is in; empty: none
    int64_t doing_since_ns = 0, asked_to_end_ns = 0, cpu_ns = 0;
    std::filesystem::path out_dir;
    std::exception_ptr refused;
    std::vector<std::string> warnings;
  };

  static void Work(const std::shared_ptr<State>& state);
  static void Create(State& state);
  static void Listen(State& state);
  static void Deliver(State& state, const std::vector<Stored>& events);
  static void AskInterests(State& state);
  template <class Function>
  static void Call(State& state, const char* doing, Function&& function);
  static void SwitchOff(State& state, const std::string& why);
  static void Warn(State& state, const std::string& sentence);

  static inline constinit thread_local State* tls_state = nullptr;  // of the monitor whose thread this is
  std::shared_ptr<State> state_;
  std::thread thread_;  // joinable as long as somebody waits for it
  const int64_t destroy_patience_ns_;
  int64_t left_behind_cpu_ns_ = 0;
};

}  // namespace backplane
