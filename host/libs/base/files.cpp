#include "base/files.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fstream>
#include <limits>
#include <memory>
#include <stdexcept>

#include "base/format_count.hpp"
#include "base/pipe.hpp"

namespace backplane {
namespace {

[[noreturn]] void Fail(const std::string& what, const std::filesystem::path& file) {
  throw std::runtime_error(what + " " + file.string() + ": " + std::strerror(errno));
}

const char* KindOf(mode_t mode) {
  if (S_ISDIR(mode)) return "a folder";
  if (S_ISFIFO(mode)) return "a pipe";
  if (S_ISSOCK(mode)) return "a socket";
  return S_ISCHR(mode) || S_ISBLK(mode) ? "a device" : "something else";
}

void WritePieces(const std::filesystem::path& file, const std::vector<std::string_view>& pieces, bool durable) {
  const int fd = open(file.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    Fail("cannot create", file);
  }
  bool written = true;
  for (size_t i = 0; i < pieces.size() && written; ++i) {
    written = WriteWhole(fd, pieces[i]) == pieces[i].size();
  }
  written = written && (!durable || fsync(fd) == 0);
  const int error = errno;
  close(fd);
  if (!written) {
    // A partial file must not keep the disk full: other writers still have to record the failure.
    unlink(file.c_str());
    errno = error;
    Fail("cannot write", file);
  }
}

void Replace(const std::filesystem::path& file, const std::string& text, bool durable) {
  const std::filesystem::path temporary = file.string() + ".tmp";
  WritePieces(temporary, {text}, durable);
  if (rename(temporary.c_str(), file.c_str()) != 0) {
    Fail("cannot rename a file to", file);
  }
}

}  // namespace

void SyncFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0 && errno == EACCES) {
    return;  // the folder may be writable but not readable: its files are safe, but a power failure could lose their names
  }
  if (fd < 0) {
    Fail("cannot open", folder);
  }
  const int error = fsync(fd) == 0 ? 0 : errno;
  close(fd);
  if (error != 0 && error != EINVAL && error != ENOTSUP) {
    errno = error;
    Fail("cannot sync", folder);
  }
}

void WriteDurably(const std::filesystem::path& file, const std::vector<std::string_view>& pieces) {
  WritePieces(file, pieces, /*durable=*/true);
}

void WriteFileAtomic(const std::filesystem::path& file, const std::string& text) {
  Replace(file, text, /*durable=*/true);
  SyncFolder(file.parent_path().empty() ? "." : file.parent_path());
}

void ReplaceFile(const std::filesystem::path& file, const std::string& text) { Replace(file, text, /*durable=*/false); }

int OpenRegularFile(const std::filesystem::path& file, std::string* why_not) {
  struct stat info {};
  const auto fail = [&](const std::string& why) {
    *why_not = why;
    return -1;
  };
  // Check before opening, because opening a device can have effects, and after, because the file may have been replaced.
  if (stat(file.c_str(), &info) != 0) return fail(std::strerror(errno));
  if (!S_ISREG(info.st_mode)) return fail(std::string("is ") + KindOf(info.st_mode) + ", not a regular file");
  const int fd = open(file.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
  if (fd < 0) return fail(std::strerror(errno));
  if (fstat(fd, &info) == 0 && S_ISREG(info.st_mode)) return fd;
  close(fd);
  return fail("is not a regular file");
}

FileText ReadRegularFile(const std::filesystem::path& file, uint64_t most_bytes) {
  FileText result;
  const int fd = OpenRegularFile(file, &result.why_not);
  if (fd < 0) return result;
  struct stat info {};
  std::string text;
  // Files of /proc have no size before they are read.
  if (fstat(fd, &info) == 0) text.reserve(std::min(static_cast<uint64_t>(info.st_size), most_bytes) + 1);
  char block[65536];
  ssize_t n = 0;
  while (text.size() <= most_bytes && ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR))) {
    if (n > 0) text.append(block, static_cast<size_t>(n));
  }
  const int error = errno;
  close(fd);
  if (n < 0) {
    result.why_not = std::strerror(error);
  } else if (text.size() > most_bytes) {
    result.why_not = "is longer than " + FormatCount(most_bytes) + " bytes";
  } else {
    result.text = std::move(text);
  }
  return result;
}

std::optional<std::string> ReadFile(const std::filesystem::path& file) {
  return ReadRegularFile(file, std::numeric_limits<uint64_t>::max() / 2).text;
}

std::ifstream OpenStream(const std::filesystem::path& file) {
  std::string why_not;
  const int fd = OpenRegularFile(file, &why_not);
  // A stream cannot adopt a descriptor; this name leads to the open file even if its path has changed.
  std::ifstream stream("/proc/self/fd/" + std::to_string(fd), std::ios::binary);
  if (fd >= 0) {
    close(fd);
  }
  return stream;
}

std::vector<std::string> LastLines(const std::filesystem::path& file, size_t count) {
  std::ifstream stream = OpenStream(file);
  if (!stream) {
    return {};
  }
  constexpr std::streamoff kTailBytes = 64 * 1024;
  const std::streamoff size = stream.seekg(0, std::ios::end).tellg();
  stream.seekg(size > kTailBytes ? size - kTailBytes : 0);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      lines.push_back(line);
    }
  }
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

}  // namespace backplane
