#include "figures/gnuplot_process.hpp"

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

namespace backplane {
namespace {

constexpr size_t kMostSaid = 4096;
constexpr std::chrono::seconds kLimit{60};

// Reads until the other side closes; false: the time was over before that.
bool ReadAll(int fd, std::string* text) {
  const auto end = std::chrono::steady_clock::now() + kLimit;
  std::array<char, 1024> buffer;
  for (;;) {
    const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(end - std::chrono::steady_clock::now());
    if (left.count() <= 0) return false;
    pollfd ready{fd, POLLIN, 0};
    if (poll(&ready, 1, static_cast<int>(left.count())) <= 0) continue;
    const ssize_t count = read(fd, buffer.data(), buffer.size());
    if (count == 0 || (count < 0 && errno != EINTR)) return true;
    if (count > 0 && text->size() < kMostSaid) text->append(buffer.data(), static_cast<size_t>(count));
  }
}

}  // namespace

GnuplotRun RunGnuplot(const std::vector<std::string>& arguments, const std::filesystem::path& folder) {
  std::array<int, 2> pipe;
  if (pipe2(pipe.data(), O_CLOEXEC) != 0) throw std::runtime_error(std::string("no pipe to gnuplot: ") + std::strerror(errno));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addchdir_np(&actions, folder.c_str());
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 1);
  posix_spawn_file_actions_adddup2(&actions, pipe[1], 2);
  std::vector<std::string> words = {"gnuplot", "--default-settings"};
  words.insert(words.end(), arguments.begin(), arguments.end());
  std::vector<char*> argv;
  for (std::string& word : words) argv.push_back(word.data());
  argv.push_back(nullptr);

  GnuplotRun run;
  pid_t pid = 0;
  run.started = posix_spawnp(&pid, argv[0], &actions, nullptr, argv.data(), environ) == 0;
  posix_spawn_file_actions_destroy(&actions);
  close(pipe[1]);
  if (run.started) {
    const bool ended = ReadAll(pipe[0], &run.said);
    if (!ended) kill(pid, SIGKILL);
    int status = 0;
    while (waitpid(pid, &status, 0) < 0 && errno == EINTR) {
    }
    run.ok = ended && WIFEXITED(status) && WEXITSTATUS(status) == 0;
    if (!ended) run.said = "it did not end within a minute";
    if (ended && WIFSIGNALED(status)) run.said = std::string("it was ended by ") + strsignal(WTERMSIG(status));
  }
  close(pipe[0]);
  return run;
}

}  // namespace backplane
