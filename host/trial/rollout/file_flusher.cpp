#include "rollout/file_flusher.hpp"

#include <fcntl.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>
#include <thread>
#include <utility>

namespace backplane {

struct FileFlusher::Shared {
  explicit Shared(int descriptor) : fd(descriptor) {}
  ~Shared() { close(fd); }
  Shared(const Shared&) = delete;

  // A description of its own: a sync reports an error once per description, and the checkpoint's sync must get it.
  const int fd;
  std::mutex mutex;
  std::condition_variable changed;
  bool wanted = false, ends = false;
};

FileFlusher::FileFlusher(std::filesystem::path file) : file_(std::move(file)) {}

FileFlusher::~FileFlusher() {
  if (!shared_) return;
  const std::lock_guard lock(shared_->mutex);
  shared_->ends = true;
  shared_->changed.notify_one();
}

void FileFlusher::Flush() {
  if (!shared_) {
    const int fd = open(file_.c_str(), O_RDWR | O_CLOEXEC);
    if (fd < 0) return;
    shared_ = std::make_shared<Shared>(fd);
    sigset_t all, before;
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);  // other threads handle signals
    std::thread([shared = shared_] { Run(shared); }).detach();
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
  }
  const std::lock_guard lock(shared_->mutex);
  shared_->wanted = true;
  shared_->changed.notify_one();
}

void FileFlusher::Run(const std::shared_ptr<Shared>& shared) {
  constexpr std::chrono::seconds kLookAgain{1};
  std::unique_lock lock(shared->mutex);
  while (!shared->ends) {
    shared->changed.wait_for(lock, kLookAgain, [&] { return shared->ends || shared->wanted; });
    if (!std::exchange(shared->wanted, false)) continue;
    lock.unlock();
    fdatasync(shared->fd);
    lock.lock();
  }
}

}  // namespace backplane
