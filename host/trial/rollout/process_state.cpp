#include "rollout/process_state.hpp"

#include <fmt/format.h>
#include <locale.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <utility>

#include "rollout/clocks.hpp"
#include "rollout/instance.hpp"
#include "rollout/process_look.hpp"

namespace backplane {
namespace process_state_detail {

constinit std::atomic<int> closely_left{0};

}  // namespace process_state_detail

namespace {

using process_state_detail::closely_left;

constexpr int kCloseCalls = 64;
constexpr int64_t kCloselyNs = 50'000'000;
constexpr size_t kSuspects = 2;  // env and learner
constexpr size_t kMaxChanges = 64;

struct Change {
  ProcessDifference difference;
  std::string who;  // "env.name"
};

std::mutex g_mutex;  // guards the changes; only one thread at a time restores
std::vector<Change>& Changes() {
  static auto* const changes = new std::vector<Change>;
  return *changes;
}
std::atomic<bool> g_in_doubt{false};      // the culprit of a change since the last close watch is unknown
std::mutex g_one_call;                    // held around a closely watched call
std::atomic<int64_t> g_closely_until{0};  // 0: starts with the first such call
std::vector<std::string> g_seen_closely;  // plugins seen after the time was over; guarded by g_one_call
thread_local bool tls_never_waits = false, tls_holds_call = false;
std::string& SuspectIds() {
  static auto* const ids = new std::string;
  return *ids;
}
bool IsJoint(const std::string& who) { return who.find(" or ") != std::string::npos; }

// The caller holds g_mutex.
void Remember(const ProcessDifference& difference, const std::string& who) {
  std::vector<Change>& changes = Changes();
  const auto known = std::find_if(changes.begin(), changes.end(),
                                  [&](const Change& one) { return one.difference.what == difference.what && one.who == who; });
  if (known != changes.end()) {
    known->difference.put_back &= difference.put_back;
    return;
  }
  if (changes.size() >= kMaxChanges) return;
  changes.push_back({difference, who});
  if (IsJoint(who)) g_in_doubt = true;
}

#if defined(__x86_64__)
constexpr uint16_t kCalmX87 = 0x037f, kX87Bits = 0x0f3f;  // rounding, precision, masks

void ResetFloatEnvironment(const std::string& who) {
  const uint32_t found = __builtin_ia32_stmxcsr();
  uint16_t x87;
  asm volatile("fnstcw %0" : "=m"(x87));
  const bool x87_changed = ((x87 ^ kCalmX87) & kX87Bits) != 0;
  if (!process_state_detail::FloatChanged() && !x87_changed) return;
  const uint32_t changed = found ^ process_state_detail::kCalm;
  __builtin_ia32_ldmxcsr((found & ~process_state_detail::kControlBits) | process_state_detail::kCalm);
  asm volatile("fldcw %0" : : "m"(kCalmX87));
  const std::lock_guard lock(g_mutex);
  if ((changed & 0x6000) != 0 || ((x87 ^ kCalmX87) & 0x0c00) != 0) Remember({"the rounding mode"}, who);
  if ((changed & 0x8040) != 0) Remember({"flush-to-zero"}, who);
  if ((changed & 0x1f80) != 0 || ((x87 ^ kCalmX87) & 0x003f) != 0) Remember({"the trapped floating-point exceptions"}, who);
  if (((x87 ^ kCalmX87) & 0x0300) != 0) Remember({"the precision of the x87 unit"}, who);
}
#elif defined(__aarch64__)
void ResetFloatEnvironment(const std::string& who) {
  if (!process_state_detail::FloatChanged()) return;
  asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  const std::lock_guard lock(g_mutex);
  Remember({"the floating-point mode"}, who);
}
#else
void ResetFloatEnvironment(const std::string&) {}
#endif

// A monitor's call in progress.
struct MonitorCall {
  std::string id;
  std::vector<ProcessDifference> before;  // differences before it began
  bool beside_suspects;                   // env and learner may have been inside a call meanwhile
  std::vector<std::string> beside;        // other monitors inside a call meanwhile
};
// Not a thread-local object: exit() destroys those before its handlers run, and other threads read this one.
constinit thread_local MonitorCall* tls_monitor_call = nullptr;
// Guarded by g_mutex.
std::vector<MonitorCall*>& MonitorCalls() {
  static auto* const calls = new std::vector<MonitorCall*>;
  return *calls;
}
// Changes found after monitors' calls, and the possible culprits, until the next RestoreProcessState. Guarded by g_mutex.
std::vector<std::pair<std::string, std::string>>& Notes() {
  static auto* const notes = new std::vector<std::pair<std::string, std::string>>;
  return *notes;
}
int g_paused = 0;  // ProcessChecksPaused; guarded by g_mutex

bool Has(const std::vector<ProcessDifference>& differences, const std::string& what) {
  return std::any_of(differences.begin(), differences.end(), [&](const ProcessDifference& one) { return one.what == what; });
}

// "a, b or c"; the last one may be such a list itself.
std::string Joined(const std::vector<std::string>& names) {
  std::string out;
  for (size_t i = 0; i < names.size(); ++i) {
    const bool last = i + 1 == names.size() && !IsJoint(names[i]);
    out += (i == 0 ? "" : last ? " or " : ", ") + names[i];
  }
  return out;
}

// True if the change could not be restored, so that every later check finds it.
bool Lasts(const std::string& what) {
  return std::any_of(Changes().begin(), Changes().end(),
                     [&](const Change& one) { return one.difference.what == what && !one.difference.put_back; });
}

std::string WhoMayHave(const MonitorCall& call) {
  std::vector<std::string> names{call.id};
  for (const std::string& other : call.beside)
    if (std::find(names.begin(), names.end(), other) == names.end()) names.push_back(other);
  if (call.beside_suspects && !Suspects().empty()) names.push_back(Suspects());
  return Joined(names);
}

// The culprit, if not `who`: a monitor whose call ended with the change, or one inside a call that began without it.
std::string WhoElse(const std::string& what, const std::string& who) {
  for (const auto& [noted, names] : Notes())
    if (noted == what) return names;
  std::vector<std::string> names;
  for (const MonitorCall* call : MonitorCalls())
    if (!Has(call->before, what)) names.push_back(call->id);
  names.push_back(who);
  return Joined(names);
}

}  // namespace

void KeepProcessState() { KeepAsItIs(); }

void RestoreThreadState(const std::string& who) {
  ResetFloatEnvironment(who);
  if (!IsKept()) return;
  if (uselocale(nullptr) != LC_GLOBAL_LOCALE) {
    uselocale(LC_GLOBAL_LOCALE);
    const std::lock_guard lock(g_mutex);
    Remember({"the locale of a thread"}, who);
  }
  if (!PutSignalMaskBack()) return;
  const std::lock_guard lock(g_mutex);
  Remember({"the signals that a thread accepts"}, who);
}

void RestoreProcessState(const std::string& who) {
  if (!IsKept()) return;
  const std::lock_guard lock(g_mutex);
  std::vector<ProcessDifference> found = PutProcessBack();
  for (const ProcessDifference& one : found)
    if (one.put_back || !Lasts(one.what)) Remember(one, WhoElse(one.what, who));
  Notes().clear();
  std::erase_if(found, [](const ProcessDifference& one) { return one.put_back; });
  for (MonitorCall* call : MonitorCalls()) call->before = found;
}

void BeginMonitorCall(const std::string& id) {
  const std::lock_guard lock(g_mutex);
  auto call = std::make_unique<MonitorCall>(MonitorCall{id, LookAtProcess(), g_paused == 0, {}});
  for (MonitorCall* other : MonitorCalls()) {
    other->beside.push_back(id);
    call->beside.push_back(other->id);
  }
  MonitorCalls().push_back(call.get());
  tls_monitor_call = call.release();
}

void EndMonitorCall() {
  const std::unique_ptr<MonitorCall> call(std::exchange(tls_monitor_call, nullptr));
  if (!call) return;
  const std::lock_guard lock(g_mutex);
  for (const ProcessDifference& one : LookAtProcess())
    if (!Has(call->before, one.what)) Notes().emplace_back(one.what, WhoMayHave(*call));
  std::erase(MonitorCalls(), call.get());
}

ProcessChecksPaused::ProcessChecksPaused() {
  const std::lock_guard lock(g_mutex);
  ++g_paused;
}

ProcessChecksPaused::~ProcessChecksPaused() {
  const std::lock_guard lock(g_mutex);
  if (--g_paused > 0) return;
  for (MonitorCall* call : MonitorCalls()) call->beside_suspects = true;
}

void NameSuspects(const std::string& ids) { SuspectIds() = ids; }

const std::string& Suspects() { return SuspectIds(); }

void WatchClosely() {
  g_closely_until = 0;
  closely_left = kCloseCalls;
}

void WatchCloselyIfInDoubt() {
  if (g_in_doubt.exchange(false)) WatchClosely();
}

void WatchNeverWaits() { tls_never_waits = true; }

std::vector<std::string> StateChanges() {
  const std::lock_guard lock(g_mutex);
  std::vector<std::string> sentences;
  for (const Change& change : Changes()) {
    const ProcessDifference& found = change.difference;
    // First reported with several names because the culprit was unknown, later with one of them.
    const bool told =
        IsJoint(change.who) && std::any_of(Changes().begin(), Changes().end(), [&](const Change& other) {
          return other.difference.what == found.what && !IsJoint(other.who) && change.who.find(other.who) != std::string::npos;
        });
    if (!told)
      sentences.push_back(fmt::format("{} changed {}{}, which all plugins of the process share; it {} restored", change.who,
                                      found.what, found.detail, found.put_back ? "was" : "could not be"));
  }
  return sentences;
}

namespace process_state_detail {

// False: the call is not watched.
bool BeginClosely() {
  if (tls_never_waits || tls_holds_call) return false;
  g_one_call.lock();
  tls_holds_call = true;
  if (g_closely_until == 0) g_closely_until = NowNs() + kCloselyNs;
  return true;
}

void EndCall(bool closely) {
  RestoreThreadState(tls_running_plugin);
  if (!closely) return;
  // Afterwards, other calls run in parallel to those that still hold the lock.
  const bool alone = closely_left > 0;
  RestoreProcessState(alone ? tls_running_plugin : Suspects());
  // A slow call must not use up the time alone, because the other plugin's changes would then fall into unchecked calls. Calls
  // before that may have been trivial.
  const int64_t until = g_closely_until;
  const bool late = until != 0 && NowNs() > until;
  if (late && std::find(g_seen_closely.begin(), g_seen_closely.end(), tls_running_plugin) == g_seen_closely.end())
    g_seen_closely.emplace_back(tls_running_plugin);
  const bool time_is_up = late && g_seen_closely.size() >= kSuspects;
  if (closely_left.fetch_sub(1) <= 1 || time_is_up) {
    closely_left = 0;
    g_seen_closely.clear();
  }
  tls_holds_call = false;
  g_one_call.unlock();
}

}  // namespace process_state_detail
}  // namespace backplane
