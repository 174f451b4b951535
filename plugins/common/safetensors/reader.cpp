#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <stdexcept>

#include "header.hpp"

namespace backplane::safetensors {
namespace {

[[noreturn]] void Fail(const std::string& path, const std::string& sentence) {
  throw std::runtime_error(path + ": " + sentence);
}

struct Descriptor {
  // O_NONBLOCK: opening a pipe would wait for a writer.
  explicit Descriptor(const std::string& path) : fd(open(path.c_str(), O_RDONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC)) {
    if (fd < 0) Fail(path, std::strerror(errno));
  }
  ~Descriptor() { close(fd); }
  int fd;
};

uint64_t LittleEndian(const std::byte* bytes) {
  uint64_t value = 0;
  for (int i = 7; i >= 0; --i) value = value << 8 | static_cast<uint64_t>(bytes[i]);
  return value;
}

}  // namespace

Reader::Reader(const std::string& path) {
  const Descriptor file(path);
  struct stat info {};
  if (fstat(file.fd, &info) != 0) Fail(path, std::strerror(errno));
  if (!S_ISREG(info.st_mode)) Fail(path, "expected a regular file");
  size_ = static_cast<uint64_t>(info.st_size);
  if (size_ < 8) Fail(path, "expected a .safetensors file of 8 bytes or more, got " + std::to_string(size_) + " bytes");
  void* map = mmap(nullptr, size_, PROT_READ, MAP_PRIVATE, file.fd, 0);
  if (map == MAP_FAILED) Fail(path, std::strerror(errno));
  map_ = static_cast<const std::byte*>(map);
  try {
    const uint64_t header_bytes = LittleEndian(map_);
    if (header_bytes > kMaxHeaderBytes || header_bytes > size_ - 8) {
      Fail(path, "header: expected at most " + std::to_string(std::min(kMaxHeaderBytes, size_ - 8)) + " bytes, got " +
                     std::to_string(header_bytes));
    }
    const std::string_view text(reinterpret_cast<const char*>(map_) + 8, header_bytes);
    try {
      Header header = ParseHeader(text, map_ + 8 + header_bytes, size_ - 8 - header_bytes);
      tensors_ = std::move(header.tensors), metadata_ = std::move(header.metadata);
    } catch (const std::exception& e) {
      Fail(path, e.what());
    }
  } catch (...) {
    munmap(map, size_);
    throw;
  }
}

Reader::~Reader() { munmap(const_cast<std::byte*>(map_), size_); }

}  // namespace backplane::safetensors
