#include "rollout/process_state.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <locale.h>
#include <pthread.h>
#include <signal.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <climits>
#include <locale>
#include <mutex>
#include <optional>

#include "rollout/clocks.hpp"
#include "rollout/instance.hpp"

namespace backplane {
namespace process_state_detail {

constinit std::atomic<int> closely_left{0};

}  // namespace process_state_detail

namespace {

using process_state_detail::closely_left;

constexpr std::array kSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS,  SIGFPE,
                                 SIGUSR1, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGCONT};
constexpr int kRestorer = 0x04000000;  // of the C library, which sets it in whatever it installs
constexpr int kCloseCalls = 64;
constexpr int64_t kCloselyNs = 50'000'000;
constexpr size_t kSuspects = 2;  // env and learner
constexpr size_t kMaxChanges = 64;

// What was there before the first plugin.
struct Calm {
  int folder = -1;
  struct stat folder_stat {};
  mode_t umask = 022;
  std::string locale = "C";
  std::array<struct sigaction, kSignals.size()> handlers{};
  sigset_t blocked{};
};

struct Change {
  std::string what, who;  // "the working directory", "env.name"
  std::string detail;     // "to /tmp"
};

std::optional<Calm> g_calm;
std::mutex g_mutex;  // guards the changes, and that two threads settle at once
std::vector<Change>& Changes() {
  static auto* const changes = new std::vector<Change>;
  return *changes;
}
std::mutex g_one_call;                    // held around a call that is looked at closely
std::atomic<int64_t> g_closely_until{0};  // 0: from the first such call on
std::vector<std::string> g_seen_closely;  // plugins whose calls were looked at since WatchClosely; guarded by g_one_call
thread_local bool tls_never_waits = false, tls_holds_call = false;
std::string& SuspectIds() {
  static auto* const ids = new std::string;
  return *ids;
}
bool IsJoint(const std::string& who) { return who.find(" or ") != std::string::npos; }

// The caller holds g_mutex.
void Remember(const std::string& what, const std::string& who, const std::string& detail) {
  std::vector<Change>& changes = Changes();
  const bool known =
      std::any_of(changes.begin(), changes.end(), [&](const Change& one) { return one.what == what && one.who == who; });
  if (known || changes.size() >= kMaxChanges) return;
  changes.push_back({what, who, detail});
  // Not from a monitor's look, which falls among calls that nobody watches.
  if (IsJoint(who) && !tls_never_waits) WatchClosely();
}

#if defined(__x86_64__)
constexpr uint16_t kCalmX87 = 0x037f, kX87Bits = 0x0f3f;  // rounding, precision, masks

void SettleFloatUnit(const std::string& who) {
  const uint32_t found = __builtin_ia32_stmxcsr();
  uint16_t x87;
  asm volatile("fnstcw %0" : "=m"(x87));
  const bool x87_changed = ((x87 ^ kCalmX87) & kX87Bits) != 0;
  if (!process_state_detail::FloatChanged() && !x87_changed) return;
  const uint32_t changed = found ^ process_state_detail::kCalm;
  __builtin_ia32_ldmxcsr((found & ~process_state_detail::kControlBits) | process_state_detail::kCalm);
  asm volatile("fldcw %0" : : "m"(kCalmX87));
  const std::lock_guard lock(g_mutex);
  if ((changed & 0x6000) != 0 || ((x87 ^ kCalmX87) & 0x0c00) != 0) Remember("the rounding mode", who, "");
  if ((changed & 0x8040) != 0) Remember("flush-to-zero", who, "");
  if ((changed & 0x1f80) != 0 || ((x87 ^ kCalmX87) & 0x003f) != 0) Remember("which floating-point exceptions trap", who, "");
  if (((x87 ^ kCalmX87) & 0x0300) != 0) Remember("the precision of the x87 unit", who, "");
}
#elif defined(__aarch64__)
void SettleFloatUnit(const std::string& who) {
  if (!process_state_detail::FloatChanged()) return;
  asm volatile("msr fpcr, %0" : : "r"(uint64_t{0}));
  const std::lock_guard lock(g_mutex);
  Remember("the floating-point mode", who, "");
}
#else
void SettleFloatUnit(const std::string&) {}
#endif

bool SettleFolder(const std::string& who) {
  struct stat now {};
  const Calm& calm = *g_calm;
  const bool there = stat(".", &now) == 0;
  if (calm.folder < 0 || (there && now.st_dev == calm.folder_stat.st_dev && now.st_ino == calm.folder_stat.st_ino))
    return false;
  char path[PATH_MAX] = "";
  const char* found = getcwd(path, sizeof path);
  const std::string detail = found != nullptr ? " to " + std::string(found) : "";
  if (fchdir(calm.folder) == 0) Remember("the working directory", who, detail);
  return true;
}

bool SettleLocale(const std::string& who) {
  const char* now = setlocale(LC_ALL, nullptr);
  const bool c_changed = now == nullptr || g_calm->locale != now, cpp_changed = std::locale() != std::locale::classic();
  if (!c_changed && !cpp_changed) return false;
  Remember("the locale", who, now != nullptr && c_changed ? " to " + std::string(now) : "");
  if (cpp_changed) std::locale::global(std::locale::classic());
  setlocale(LC_ALL, g_calm->locale.c_str());
  return true;
}

bool SettleHandlers(const std::string& who) {
  bool changed = false;
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    const struct sigaction& calm = g_calm->handlers[i];
    if (sigaction(kSignals[i], nullptr, &now) != 0 ||
        (now.sa_handler == calm.sa_handler && ((now.sa_flags ^ calm.sa_flags) & ~kRestorer) == 0))
      continue;
    Remember(fmt::format("the handler of SIG{}", sigabbrev_np(kSignals[i])), who, "");
    sigaction(kSignals[i], &calm, nullptr);
    changed = true;
  }
  return changed;
}

}  // namespace

void KeepProcessState() {
  Calm calm;
  calm.folder = open(".", O_PATH | O_DIRECTORY | O_CLOEXEC);
  if (calm.folder >= 0 && fstat(calm.folder, &calm.folder_stat) != 0) calm.folder = -1;
  calm.umask = umask(calm.umask);
  umask(calm.umask);
  if (const char* locale = setlocale(LC_ALL, nullptr)) calm.locale = locale;
  for (size_t i = 0; i < kSignals.size(); ++i) sigaction(kSignals[i], nullptr, &calm.handlers[i]);
  pthread_sigmask(SIG_SETMASK, nullptr, &calm.blocked);
  g_calm = calm;
}

void SettleThread(const std::string& who) {
  SettleFloatUnit(who);
  if (!g_calm) return;
  if (uselocale(nullptr) != LC_GLOBAL_LOCALE) {
    uselocale(LC_GLOBAL_LOCALE);
    const std::lock_guard lock(g_mutex);
    Remember("the locale of a thread", who, "");
  }
  sigset_t now;
  if (pthread_sigmask(SIG_SETMASK, nullptr, &now) != 0) return;
  for (const int signal : kSignals) {
    if (sigismember(&now, signal) == sigismember(&g_calm->blocked, signal)) continue;
    pthread_sigmask(SIG_SETMASK, &g_calm->blocked, nullptr);
    const std::lock_guard lock(g_mutex);
    Remember("which signals a thread takes", who, "");
    return;
  }
}

bool SettleProcess(const std::string& who) {
  if (!g_calm) return false;
  const std::lock_guard lock(g_mutex);
  // Setting it is how it is read, so nothing is created with another one meanwhile.
  const mode_t mask = umask(g_calm->umask);
  if (mask != g_calm->umask) Remember("the umask", who, fmt::format(" to {:03o}", mask));
  const bool folder = SettleFolder(who), locale = SettleLocale(who), handlers = SettleHandlers(who);
  return mask != g_calm->umask || folder || locale || handlers;
}

void NameSuspects(const std::string& ids) { SuspectIds() = ids; }

const std::string& Suspects() { return SuspectIds(); }

void WatchClosely() {
  g_closely_until = 0;
  closely_left = kCloseCalls;
}

void WatchNeverWaits() { tls_never_waits = true; }

std::vector<std::string> StateChanges() {
  const std::lock_guard lock(g_mutex);
  std::vector<std::string> sentences;
  for (const Change& change : Changes()) {
    // Told with two names where it could not be known, and since then with one.
    const bool told = IsJoint(change.who) && std::any_of(Changes().begin(), Changes().end(), [&](const Change& other) {
                        return other.what == change.what && !IsJoint(other.who);
                      });
    if (!told)
      sentences.push_back(fmt::format("{} changed {}{}, which all plugins of the process share; it was put back", change.who,
                                      change.what, change.detail));
  }
  return sentences;
}

namespace process_state_detail {

// False: the call is not looked at.
bool BeginClosely() {
  if (tls_never_waits || tls_holds_call) return false;
  g_one_call.lock();
  tls_holds_call = true;
  if (g_closely_until == 0) g_closely_until = NowNs() + kCloselyNs;
  return true;
}

void EndCall(bool closely) {
  SettleThread(tls_running_plugin);
  if (!closely) return;
  // Once it is over others run beside those that still hold the lock.
  const bool alone = closely_left > 0;
  SettleProcess(alone ? tls_running_plugin : Suspects());
  if (std::find(g_seen_closely.begin(), g_seen_closely.end(), tls_running_plugin) == g_seen_closely.end())
    g_seen_closely.emplace_back(tls_running_plugin);
  // A slow call alone must not use up the time: then the other plugin's changes would be found among calls that nobody watched.
  const bool time_is_up = NowNs() > g_closely_until && g_seen_closely.size() >= kSuspects;
  if (closely_left.fetch_sub(1) <= 1 || time_is_up) {
    closely_left = 0;
    g_seen_closely.clear();
  }
  tls_holds_call = false;
  g_one_call.unlock();
}

}  // namespace process_state_detail
}  // namespace backplane
