#include "results/line_tail.hpp"

#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>

#include "base/files.hpp"

namespace backplane {
namespace {

constexpr size_t kCompared = 64;

// Stays open for the object's lifetime.
struct Opened {
  explicit Opened(const std::filesystem::path& file) {
    std::string why_not;
    if (!file.empty()) fd = OpenRegularFile(file, &why_not);
    if (fd >= 0 && fstat(fd, &info) != 0) info = {};
  }
  ~Opened() {
    if (fd >= 0) close(fd);
  }
  Opened(const Opened&) = delete;

  std::string Bytes(uint64_t from, size_t most) const {
    std::string text(most, '\0');
    const ssize_t n = pread(fd, text.data(), most, static_cast<off_t>(from));
    text.resize(n > 0 ? static_cast<size_t>(n) : 0);
    return text;
  }

  int fd = -1;
  struct stat info {};
};

}  // namespace

bool LineTail::IsAnew() {
  const Opened file(file_);
  if (file.fd < 0 || offset_ == 0) return false;
  const bool same = file.info.st_ino == inode_ && static_cast<uint64_t>(file.info.st_size) >= offset_ &&
                    file.Bytes(offset_ - before_.size(), before_.size()) == before_;
  if (!same) offset_ = 0;
  return !same;
}

size_t LineTail::Read(size_t most_bytes, const std::function<void(const std::string& line)>& use) {
  const Opened file(file_);
  if (file.fd < 0 || static_cast<uint64_t>(file.info.st_size) <= offset_) return 0;
  inode_ = file.info.st_ino;
  const std::string text = file.Bytes(offset_, most_bytes);
  size_t begin = 0;
  for (size_t end = 0; (end = text.find('\n', begin)) != std::string::npos; begin = end + 1)
    use(text.substr(begin, end - begin));
  if (begin == 0) return text.size() < most_bytes ? 0 : Read(2 * most_bytes, use);  // one line has more
  offset_ += begin;
  const size_t kept = std::min(begin, kCompared);
  before_ = text.substr(begin - kept, kept);
  return begin;
}

}  // namespace backplane
