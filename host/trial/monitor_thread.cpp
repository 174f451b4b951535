#include "trial/monitor_thread.hpp"

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <utility>

#include "base/bounded.hpp"
#include "rollout/clocks.hpp"

namespace backplane {
namespace {

using std::chrono::nanoseconds;

constexpr auto kBatchEvery = std::chrono::milliseconds(100);
constexpr int64_t kSampleEveryNs = 1'000'000'000;
constexpr size_t kQueueLimit = 8192;
constexpr size_t kReserved = 1024;  // reserved slots for events other than EPISODE and METRIC
constexpr int64_t kDestroyPatienceNs = 2'000'000'000;

// The user's options are invalid, so the trial must fail.
bool IsRefusal(bp_status status) { return status == BP_E_CONFIG || status == BP_E_INVALID_ARG || status == BP_E_UNSUPPORTED; }

}  // namespace

MonitorPatience MonitorPatience::Within(double hang_timeout_s) {
  MonitorPatience patience;
  const double hang_ns = std::min(hang_timeout_s, 3600.0) * 1e9;
  patience.start_ns = std::min(patience.start_ns, static_cast<int64_t>(hang_ns / 3));
  patience.end_ns = std::min(patience.end_ns, static_cast<int64_t>(hang_ns / 2));
  return patience;
}

MonitorThread::MonitorThread(const LoadedModule& module, const std::string& id, const HostSinks& sinks,
                             const InstanceOptions& options, std::shared_ptr<EventNames> names, const MonitorPatience& patience)
    : state_(std::make_shared<State>(id, sinks, options)), destroy_patience_ns_(std::min(kDestroyPatienceNs, patience.end_ns)) {
  state_->names = std::move(names);
  state_->api = module.api<bp_monitor_api>(id);
  thread_ = std::thread([state = state_] { Work(state); });
  std::unique_lock lock(state_->mutex);
  const auto is_there = [this] { return state_->ready || state_->ended || state_->gone; };
  if (!state_->changed.wait_for(lock, nanoseconds(patience.start_ns), is_there)) {
    state_->late = true;
    const std::string sentence = fmt::format("{}: still in {} after {:.3g} s; the trial starts without it", id, state_->doing,
                                             static_cast<double>(patience.start_ns) * 1e-9);
    lock.unlock();
    Warn(*state_, sentence);
    return;
  }
  if (!state_->refused) return;
  const std::exception_ptr refused = std::move(state_->refused);  // the thread must not keep a reference
  lock.unlock();
  thread_.detach();  // it ends on its own and owns its state
  std::rethrow_exception(refused);
}

MonitorThread::~MonitorThread() {
  if (!thread_.joinable()) return;
  AskToEnd({});
  if (!AwaitEnd(NowNs() + destroy_patience_ns_, destroy_patience_ns_)) thread_.detach();
}

void MonitorThread::Start() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->started = true;
  }
  state_->changed.notify_all();
}

void MonitorThread::PostTogether(const std::vector<bp_event>& events, const std::string& detail) {
  const std::lock_guard lock(state_->mutex);
  for (const bp_event& event : events) {
    if (!Wants(event.type)) continue;
    const bool droppable = event.type == BP_EVENT_EPISODE || event.type == BP_EVENT_METRIC;
    if (state_->queue.size() - state_->spans_waiting >= (droppable ? kQueueLimit - kReserved : kQueueLimit))
      ++state_->dropped;
    else
      state_->queue.push_back({event, detail});
  }
}

void MonitorThread::PostSpans(const std::vector<bp_event>& spans) {
  const std::lock_guard lock(state_->mutex);
  const size_t room = std::min(spans.size(), kSpanLimit - state_->spans_waiting);
  for (size_t i = 0; i < room; ++i) state_->queue.push_back({spans[i], ""});
  state_->spans_waiting += room;
  state_->dropped += spans.size() - room;
}

void MonitorThread::AskToEnd(const std::filesystem::path& out_dir) {
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->stop) return;
    state_->out_dir = out_dir;
    state_->stop = true;
    state_->asked_to_end_ns = NowNs();
  }
  state_->changed.notify_all();
}

bool MonitorThread::AwaitEnd(int64_t until_ns, int64_t patience_ns) {
  std::unique_lock lock(state_->mutex);
  while (!state_->ended && !state_->gone) {
    // Its time limit starts with the call that does not return.
    const int64_t until = *state_->doing != '\0' ? std::min(until_ns, state_->doing_since_ns + patience_ns) : until_ns;
    const int64_t left = until - NowNs();
    if (left <= 0) return false;
    state_->changed.wait_for(lock, std::min<nanoseconds>(nanoseconds(left), kBatchEvery));
  }
  const bool ended = state_->ended;
  lock.unlock();
  if (!thread_.joinable()) return true;
  if (!ended) left_behind_cpu_ns_ = cpu_ns();
  thread_.detach();  // not joined: destructors of a plugin's thread-local objects may still run, and may hang
  return true;
}

void MonitorThread::LeaveBehind() {
  std::string why;
  {
    const std::lock_guard lock(state_->mutex);
    if (state_->ended || !thread_.joinable()) return;
    const auto seconds_since = [](int64_t since_ns) { return static_cast<double>(NowNs() - since_ns) * 1e-9; };
    why =
        *state_->doing != '\0'
            ? fmt::format(" in {}, which did not return within {:.0f} s", state_->doing, seconds_since(state_->doing_since_ns))
            : fmt::format(" because it did not end within {:.0f} s", seconds_since(state_->asked_to_end_ns));
  }
  left_behind_cpu_ns_ = cpu_ns();
  thread_.detach();
  Warn(*state_, fmt::format("{} was abandoned{}; its output may be incomplete", state_->services.plugin_id(), why));
}

void MonitorThread::ParkWhereItExits(const std::string& sentence) {
  if (tls_state == nullptr) return;
  State& state = *tls_state;
  EndMonitorCall();
  SwitchOff(state, sentence);
  {
    const std::lock_guard lock(state.mutex);
    state.gone = true;
  }
  state.changed.notify_all();
  for (;;) pause();
}

bool MonitorThread::ended() const {
  const std::lock_guard lock(state_->mutex);
  return state_->ended;
}

uint64_t MonitorThread::dropped() const {
  const std::lock_guard lock(state_->mutex);
  return state_->dropped;
}

int64_t MonitorThread::cpu_ns() const {
  const std::lock_guard lock(state_->mutex);
  if (state_->ended) return state_->cpu_ns;
  clockid_t clock{};
  if (!thread_.joinable() || pthread_getcpuclockid(const_cast<std::thread&>(thread_).native_handle(), &clock) != 0)
    return left_behind_cpu_ns_;
  return ReadClock(clock);
}

std::vector<std::string> MonitorThread::warnings() const {
  const std::lock_guard lock(state_->mutex);
  return state_->warnings;
}

std::optional<EndedBy> MonitorThread::verdict() const {
  const std::lock_guard lock(state_->mutex);
  return state_->verdict;
}

void MonitorThread::Work(const std::shared_ptr<State>& state) {
  WatchNeverWaits();
  tls_state = state.get();
  Create(*state);
  AskInterests(*state);
  FindVerdicts(*state);
  {
    const std::lock_guard lock(state->mutex);
    state->ready = true;
  }
  state->changed.notify_all();
  Listen(*state);
  std::filesystem::path out_dir;
  {
    const std::lock_guard lock(state->mutex);
    out_dir = state->out_dir;
  }
  if (!out_dir.empty() && state->api->finish != nullptr)
    Call(*state, "finish", [&] { return state->api->finish(state->instance, out_dir.c_str()); });
  if (state->instance != nullptr && state->api->destroy != nullptr) {
    state->on = true;  // even if switched off, because it may hold files open
    Call(*state, "destroy", [&] {
      state->api->destroy(state->instance);
      return bp_status{BP_OK};
    });
  }
  {
    const std::lock_guard lock(state->mutex);
    state->cpu_ns = ThreadCpuNs();
    state->ended = true;
  }
  state->changed.notify_all();
}

void MonitorThread::Create(State& state) {
  const std::string& id = state.services.plugin_id();
  const OptionView view(state.options.options, state.options.origin, state.options.prefix);
  bp_status refusal = BP_OK;
  Call(state, "create", [&] {
    const bp_status status = state.api->create(state.services.get(), view.get(), &state.instance);
    if (IsRefusal(status)) refusal = status;
    return IsRefusal(status) ? bp_status{BP_OK} : status;
  });
  if (refusal != BP_OK) {
    const TrialFailure failure(refusal, id, "create: " + state.services.TakeError());
    bool late = false;
    {
      const std::lock_guard lock(state.mutex);
      late = state.late;
      if (!late) state.refused = std::make_exception_ptr(failure);
      state.stop = true;  // no Start follows an error
    }
    state.on = false;
    if (late) Warn(state, failure.what());
  } else if (state.on && state.instance == nullptr) {
    SwitchOff(state, "create: returned no instance and no error");
  }
}

void MonitorThread::AskInterests(State& state) {
  if (!state.on || state.api->interests == nullptr) return;
  Call(state, "interests", [&] {
    state.interests = state.api->interests(state.instance);
    return bp_status{BP_OK};
  });
}

void MonitorThread::FindVerdicts(State& state) {
  if (!state.on || state.api->get_extension == nullptr) return;
  Call(state, "get_extension", [&] {
    state.verdicts = static_cast<const bp_monitor_verdict_1*>(state.api->get_extension(state.instance, BP_MONITOR_VERDICT_1));
    return bp_status{BP_OK};
  });
}

// Keeps the first verdict.
void MonitorThread::AskVerdict(State& state) {
  if (state.verdicts == nullptr) return;
  Call(state, "verdict", [&] {
    const char* reason = nullptr;
    if (state.verdicts->verdict(state.instance, &reason) != BP_VERDICT_STOP) return bp_status{BP_OK};
    const std::lock_guard lock(state.mutex);
    if (!state.verdict) state.verdict = EndedBy{state.services.plugin_id(), Bounded(reason != nullptr ? reason : "")};
    return bp_status{BP_OK};
  });
}

void MonitorThread::Listen(State& state) {
  {
    std::unique_lock lock(state.mutex);
    state.changed.wait(lock, [&] { return state.started || state.stop; });
    if (!state.started) return;  // only checked whether it can be created
  }
  int64_t next_sample = NowNs();
  for (bool stop = false; !stop && state.on;) {
    std::vector<Stored> events;
    {
      std::unique_lock lock(state.mutex);
      state.changed.wait_for(lock, kBatchEvery, [&] { return state.stop; });
      events.swap(state.queue);
      state.spans_waiting = 0;
      stop = state.stop;
    }
    Deliver(state, events);
    const int64_t now = NowNs();
    if (now < next_sample && !stop) continue;
    next_sample = now + kSampleEveryNs;
    if (state.api->sample == nullptr) continue;
    Call(state, "sample", [&] { return state.api->sample(state.instance, now); });
    AskVerdict(state);
  }
}

void MonitorThread::Deliver(State& state, const std::vector<Stored>& events) {
  if (state.api->on_events == nullptr) return;
  std::vector<bp_event> batch;
  const uint64_t interests = state.interests;
  for (const Stored& stored : events) {
    if ((interests & (uint64_t{1} << stored.event.type)) == 0) continue;
    batch.push_back(stored.event);
    batch.back().detail = stored.detail.empty() ? nullptr : stored.detail.c_str();
  }
  if (batch.empty()) return;
  Call(state, "on_events", [&] { return state.api->on_events(state.instance, batch.data(), batch.size()); });
  AskInterests(state);
  AskVerdict(state);
}

// Switches a failing monitor off; later calls do nothing.
template <class Function>
void MonitorThread::Call(State& state, const char* doing, Function&& function) {
  if (!state.on) return;
  const auto begin_or_end = [&state](const char* call) {
    const std::lock_guard lock(state.mutex);
    state.doing = call;
    state.doing_since_ns = NowNs();
  };
  begin_or_end(doing);
  const std::string& id = state.services.plugin_id();
  BeginMonitorCall(id);
  std::string why;
  try {
    if (CallPlugin(id, function) != BP_OK) why = state.services.TakeError();
  } catch (const TrialFailure& failure) {
    why = failure.what();
  } catch (const std::bad_alloc&) {
    why = "out of memory";
  }
  RestoreThreadState(id);
  EndMonitorCall();
  tls_running_plugin = "";  // an idle thread runs no plugin, so a hang is not blamed on it
  begin_or_end("");
  if (!why.empty()) SwitchOff(state, std::string(doing) + ": " + why);
}

void MonitorThread::SwitchOff(State& state, const std::string& why) {
  state.interests = 0;
  state.on = false;
  Warn(state, fmt::format("{} was switched off: {}", state.services.plugin_id(), why));
}

void MonitorThread::Warn(State& state, const std::string& sentence) {
  {
    const std::lock_guard lock(state.mutex);
    state.warnings.push_back(Bounded(sentence));
  }
  if (state.sinks.log) state.sinks.log(state.services.plugin_id(), BP_LOG_WARN, sentence);
}

}  // namespace backplane
