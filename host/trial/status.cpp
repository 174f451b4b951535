#include "trial/status.hpp"

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <system_error>

namespace backplane {
namespace {
template <size_t N>
void Put(char (&to)[N], std::string_view text) {
  const size_t n = std::min(text.size(), N - 1);
  std::memcpy(to, text.data(), n);
  std::memset(to + n, 0, N - n);
}
}  // namespace

StatusWriter::StatusWriter(const std::filesystem::path& file) {
  int fd = -1, flags = MAP_SHARED;
  if (file.empty()) {
    flags |= MAP_ANONYMOUS;
  } else {
    fd = open(file.c_str(), O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
    // Allocates its disk space in advance: on a full disk, a write to an unallocated mapped page would end the process by
    // SIGBUS.
    const int error = fd < 0 ? errno : posix_fallocate(fd, 0, sizeof(StatusFile));
    if (error != 0) {
      if (fd >= 0) close(fd);
      throw std::system_error(error, std::generic_category(), "cannot write " + file.string());
    }
  }
  void* map = mmap(nullptr, sizeof(StatusFile), PROT_READ | PROT_WRITE, flags, fd, 0);
  if (fd >= 0) close(fd);
  if (map == MAP_FAILED) throw std::system_error(errno, std::generic_category(), file.string());
  file_ = static_cast<StatusFile*>(map);
  file_->episode_return = std::nan("");
  Put(file_->magic, kStatusMagic);
}

StatusWriter::~StatusWriter() { munmap(file_, sizeof(StatusFile)); }
void StatusWriter::Beat() { std::atomic_ref(file_->heartbeat).fetch_add(1, std::memory_order_relaxed); }
void StatusWriter::SetPhase(std::string_view name) { Put(file_->phase, name); }
void StatusWriter::SetPlugin(std::string_view id) { Put(file_->plugin, id); }
void StatusWriter::SetOwnTime(double seconds, double suspended_s) {
  file_->suspended_s = suspended_s;
  file_->own_s = seconds;
}
void StatusWriter::SetLine(std::string_view text) { Put(file_->line, text); }

void StatusWriter::NameLive(const std::vector<std::string>& names) {
  for (size_t i = 0; i < kMaxLive; ++i) {
    file_->live[i].value = std::nan("");
    Put(file_->live[i].name, i < names.size() ? names[i] : "");
  }
}

void StatusWriter::AddLive(std::string_view name) {
  for (StatusFile::Live& live : file_->live) {
    if (name == live.name) return;
    if (*live.name == '\0') {
      live.added = 1;
      return Put(live.name, name);
    }
  }
}

void StatusWriter::SetLive(std::string_view name, double value) {
  for (StatusFile::Live& live : file_->live)
    if (!name.empty() && name == live.name) live.value = value;
}

}  // namespace backplane
