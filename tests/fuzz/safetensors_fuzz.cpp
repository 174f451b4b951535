// A .safetensors file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <stdexcept>
#include <string>

#include "safetensors/safetensors.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  static const int file = memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) return 1;
  try {
    const backplane::safetensors::Reader reader(path);
    // Every tensor's bytes must be readable, whatever the header contains.
    unsigned sum = 0;
    for (const auto& [name, tensor] : reader.tensors()) {
      for (uint64_t i = 0; i < tensor.bytes; ++i) sum += static_cast<unsigned>(tensor.data[i]);
    }
    volatile unsigned read = sum;
    (void)read;
  } catch (const std::runtime_error&) {
    // rejected with an error
  }
  return 0;
}
