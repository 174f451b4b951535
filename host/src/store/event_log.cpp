#include "store/event_log.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <cstring>
#include <stdexcept>

#include "base/json_text.hpp"
#include "base/process.hpp"

namespace backplane {
namespace {

constexpr int kEventVersion = 1;

[[noreturn]] void Fail(const std::string& what, const std::filesystem::path& file, int error) {
  throw std::runtime_error(what + " " + file.string() + ": " + std::strerror(error));
}

// Bytes up to and with the last line feed.
int64_t WholeLines(int fd, const std::filesystem::path& file) {
  int64_t end = lseek(fd, 0, SEEK_END);
  char block[4096];
  while (end > 0) {
    const int64_t begin = std::max<int64_t>(0, end - static_cast<int64_t>(sizeof block));
    const ssize_t n = pread(fd, block, static_cast<size_t>(end - begin), begin);
    if (n != end - begin) {
      Fail("cannot read", file, n < 0 ? errno : EIO);
    }
    const void* feed = memrchr(block, '\n', static_cast<size_t>(n));
    if (feed != nullptr) {
      return begin + (static_cast<const char*>(feed) - block) + 1;
    }
    end = begin;
  }
  return 0;
}

double Now() { return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count(); }

std::string Line(const Event& event) {
  nlohmann::ordered_json line = {
      {"v", kEventVersion}, {"seq", event.seq}, {"t", event.t}, {"boot_id", event.boot_id}, {"kind", event.kind}};
  if (!event.trial_id.empty()) {
    line["trial_id"] = event.trial_id;
  }
  if (event.attempt > 0) {
    line["attempt"] = event.attempt;
  }
  for (const auto& [key, value] : event.body.items()) {
    line.emplace(key, value);
  }
  return JsonText(line) + "\n";
}

}  // namespace

EventLog::EventLog(const std::filesystem::path& file) : file_(file), boot_id_(BootId()) {
  fd_ = open(file.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) {
    Fail("cannot open", file, errno);
  }
  try {
    size_bytes_ = WholeLines(fd_, file);
    if (ftruncate(fd_, size_bytes_) != 0) {
      Fail("cannot write", file, errno);
    }
    record_ = ReadBatchRecord(file);
  } catch (...) {
    close(fd_);
    throw;
  }
}

EventLog::~EventLog() { close(fd_); }

void EventLog::Append(const std::string& kind, const std::string& trial_id, unsigned attempt, const nlohmann::json& body) {
  Append({Entry{kind, trial_id, attempt, body}});
}

void EventLog::Append(const std::vector<Entry>& entries) {
  std::vector<Event> events;
  std::string lines;
  for (const Entry& entry : entries) {
    events.push_back(
        {record_.last_seq + 1 + events.size(), Now(), boot_id_, entry.kind, entry.trial_id, entry.attempt, entry.body});
    lines += Line(events.back());
  }
  ssize_t n = 0;
  do {
    n = write(fd_, lines.data(), lines.size());
  } while (n < 0 && errno == EINTR);
  int error = n == static_cast<ssize_t>(lines.size()) ? 0 : n < 0 ? errno : ENOSPC;
  if (error == 0 && fdatasync(fd_) != 0) {
    error = errno;
  }
  if (error != 0) {
    // Half a line followed by a whole one could not be read again. Cutting a file back needs no room.
    [[maybe_unused]] const int cut = ftruncate(fd_, size_bytes_);
    Fail("cannot write", file_, error);
  }
  size_bytes_ += n;
  for (Event& event : events) record_.Apply(std::move(event));
}

}  // namespace backplane
