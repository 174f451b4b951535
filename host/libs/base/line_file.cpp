#include "base/line_file.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "base/pipe.hpp"

namespace backplane {
namespace {

[[noreturn]] void Fail(const char* what, const std::filesystem::path& file, int error) {
  throw std::runtime_error(std::string(what) + " " + file.string() + ": " + std::strerror(error));
}

// Bytes up to and with the last line feed.
uint64_t WholeLines(int fd, uint64_t size_bytes, const std::filesystem::path& file) {
  char block[4096];
  for (uint64_t end = size_bytes; end > 0;) {
    const uint64_t begin = end - std::min<uint64_t>(end, sizeof block);
    const ssize_t n = pread(fd, block, end - begin, static_cast<off_t>(begin));
    if (n != static_cast<ssize_t>(end - begin)) Fail("cannot read", file, n < 0 ? errno : EIO);
    if (const void* feed = memrchr(block, '\n', static_cast<size_t>(n)))
      return begin + static_cast<uint64_t>(static_cast<const char*>(feed) - block) + 1;
    end = begin;
  }
  return 0;
}

}  // namespace

LineFile::LineFile(std::filesystem::path file)
    : LineFile(file, [&file](int fd, uint64_t size_bytes) { return WholeLines(fd, size_bytes, file); }) {}

LineFile::LineFile(std::filesystem::path file, uint64_t whole_bytes)
    : LineFile(std::move(file), [=](int, uint64_t size_bytes) { return std::min(whole_bytes, size_bytes); }) {}

LineFile::LineFile(std::filesystem::path file, const std::function<uint64_t(int fd, uint64_t size_bytes)>& whole_bytes)
    : file_(std::move(file)) {
  fd_ = open(file_.c_str(), O_RDWR | O_CREAT | O_APPEND | O_CLOEXEC, 0644);
  if (fd_ < 0) Fail("cannot open", file_, errno);
  try {
    const off_t end = lseek(fd_, 0, SEEK_END);
    if (end < 0) Fail("cannot read", file_, errno);
    size_bytes_ = whole_bytes(fd_, static_cast<uint64_t>(end));
    if (size_bytes_ != static_cast<uint64_t>(end)) CutTo(size_bytes_);
  } catch (...) {
    close(fd_);
    throw;
  }
}

LineFile::~LineFile() { close(fd_); }

void LineFile::Append(std::string_view lines) {
  // After a short write, the next attempt sets errno to the reason.
  if (WriteWhole(fd_, lines) < lines.size()) {
    const int error = errno;
    CutTo(size_bytes_);
    Fail("cannot write", file_, error);
  }
  size_bytes_ += lines.size();
  unsynced_ = true;
}

void LineFile::Sync() {
  if (sync_error_ == 0 && unsynced_ && fdatasync(fd_) != 0) sync_error_ = errno;
  if (sync_error_ != 0) Fail("cannot write", file_, sync_error_);
  unsynced_ = false;
}

void LineFile::AppendAndSync(std::string_view lines) {
  const uint64_t before = size_bytes_;
  Append(lines);
  try {
    Sync();
  } catch (...) {
    CutTo(before);
    size_bytes_ = before;
    throw;
  }
}

void LineFile::CutTo(uint64_t bytes) {
  if (ftruncate(fd_, static_cast<off_t>(bytes)) != 0) Fail("cannot write", file_, errno);
}

}  // namespace backplane
