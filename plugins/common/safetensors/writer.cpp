#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <stdexcept>
#include <utility>

#include "header.hpp"

namespace backplane::safetensors {
namespace {

[[noreturn]] void FailToWrite(const std::string& path) {
  throw std::runtime_error(path + ": could not be written: " + std::strerror(errno));
}

// Under another name until it is whole.
class Draft {
 public:
  explicit Draft(const std::string& path) : path_(path), draft_(path + ".tmp"), file_(std::fopen(draft_.c_str(), "wbe")) {
    if (!file_) FailToWrite(path_);
  }
  ~Draft() {
    if (!file_) return;
    std::fclose(file_);
    std::remove(draft_.c_str());
  }
  void Put(const void* data, uint64_t n) {
    if (std::fwrite(data, 1, n, file_) != n) FailToWrite(path_);
  }
  void Finish() {
    if (std::fflush(file_) != 0 || fsync(fileno(file_)) != 0) FailToWrite(path_);
    std::FILE* file = std::exchange(file_, nullptr);
    if (std::fclose(file) != 0 || std::rename(draft_.c_str(), path_.c_str()) != 0) FailToWrite(path_);
  }

 private:
  std::string path_, draft_;
  std::FILE* file_;
};

}  // namespace

void Write(const std::string& path, const Metadata& metadata, const Tensors& tensors) {
  const std::string header = FormatHeader(metadata, tensors);
  unsigned char length[8];
  for (int i = 0; i < 8; ++i) length[i] = static_cast<unsigned char>(header.size() >> (8 * i));
  Draft draft(path);
  draft.Put(length, sizeof length);
  draft.Put(header.data(), header.size());
  for (const auto* each : FileOrder(tensors)) draft.Put(each->second.data, each->second.bytes);
  draft.Finish();
}

}  // namespace backplane::safetensors
