#include "rollout/process_look.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <locale.h>
#include <pthread.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <climits>
#include <cstdlib>
#include <cstring>
#include <locale>
#include <optional>

namespace backplane {
namespace {

constexpr std::array kSignals = {SIGHUP,  SIGINT,  SIGQUIT, SIGILL,  SIGABRT, SIGBUS,  SIGFPE,
                                 SIGUSR1, SIGSEGV, SIGPIPE, SIGALRM, SIGTERM, SIGCHLD, SIGCONT};
constexpr int kRestorer = 0x04000000;  // a flag that the C library sets in every handler it installs

// The state before the first plugin.
struct Calm {
  int folder = -1;
  struct stat folder_stat {};
  mode_t umask = 022;
  std::string locale = "C";
  std::array<struct sigaction, kSignals.size()> handlers{};
  sigset_t blocked{};
};
std::optional<Calm> g_calm;

enum class Do { kLook = 1, kPutBack };

// Reads the umask from the kernel's text, because the system call would change it.
std::optional<mode_t> ReadUmask() {
  const int file = open("/proc/self/status", O_RDONLY | O_CLOEXEC);
  if (file < 0) return std::nullopt;
  std::array<char, 4096> text{};
  const ssize_t n = read(file, text.data(), text.size() - 1);
  close(file);
  const char* found = n > 0 ? std::strstr(text.data(), "\nUmask:") : nullptr;
  if (found == nullptr) return std::nullopt;
  return static_cast<mode_t>(std::strtoul(found + std::strlen("\nUmask:"), nullptr, 8));
}

void LookAtUmask(Do what, std::vector<ProcessDifference>* out) {
  // umask() returns the old mask only while setting a new one, so set the original.
  const mode_t calm = g_calm->umask, found = what == Do::kPutBack ? umask(calm) : ReadUmask().value_or(calm);
  if (found != calm) out->push_back({"the umask", fmt::format(" to {:03o}", found)});
}

void LookAtFolder(Do what, std::vector<ProcessDifference>* out) {
  struct stat now {};
  const Calm& calm = *g_calm;
  const bool there = stat(".", &now) == 0;
  if (calm.folder < 0 || (there && now.st_dev == calm.folder_stat.st_dev && now.st_ino == calm.folder_stat.st_ino)) return;
  char path[PATH_MAX] = "";
  const char* found = getcwd(path, sizeof path);
  const bool put_back = what == Do::kPutBack && fchdir(calm.folder) == 0;
  out->push_back({"the working directory", found != nullptr ? " to " + std::string(found) : "", put_back});
}

void LookAtLocale(Do what, std::vector<ProcessDifference>* out) {
  const char* now = setlocale(LC_ALL, nullptr);
  const bool c_changed = now == nullptr || g_calm->locale != now, cpp_changed = std::locale() != std::locale::classic();
  if (!c_changed && !cpp_changed) return;
  out->push_back({"the locale", now != nullptr && c_changed ? " to " + std::string(now) : ""});
  if (what == Do::kLook) return;
  if (cpp_changed) std::locale::global(std::locale::classic());
  out->back().put_back = setlocale(LC_ALL, g_calm->locale.c_str()) != nullptr;
}

void LookAtHandlers(Do what, std::vector<ProcessDifference>* out) {
  for (size_t i = 0; i < kSignals.size(); ++i) {
    struct sigaction now {};
    const struct sigaction& calm = g_calm->handlers[i];
    if (sigaction(kSignals[i], nullptr, &now) != 0 ||
        (now.sa_handler == calm.sa_handler && ((now.sa_flags ^ calm.sa_flags) & ~kRestorer) == 0))
      continue;
    out->push_back({fmt::format("the handler of SIG{}", sigabbrev_np(kSignals[i])), ""});
    if (what == Do::kPutBack) out->back().put_back = sigaction(kSignals[i], &calm, nullptr) == 0;
  }
}

std::vector<ProcessDifference> Look(Do what) {
  std::vector<ProcessDifference> found;
  if (!g_calm) return found;
  for (const auto look : {LookAtUmask, LookAtFolder, LookAtLocale, LookAtHandlers}) look(what, &found);
  return found;
}

}  // namespace

void KeepAsItIs() {
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

bool IsKept() { return g_calm.has_value(); }

std::vector<ProcessDifference> LookAtProcess() { return Look(Do::kLook); }

std::vector<ProcessDifference> PutProcessBack() { return Look(Do::kPutBack); }

bool PutSignalMaskBack() {
  sigset_t now;
  if (!g_calm || pthread_sigmask(SIG_SETMASK, nullptr, &now) != 0) return false;
  for (const int signal : kSignals) {
    if (sigismember(&now, signal) == sigismember(&g_calm->blocked, signal)) continue;
    pthread_sigmask(SIG_SETMASK, &g_calm->blocked, nullptr);
    return true;
  }
  return false;
}

}  // namespace backplane
