// A plugin file before it is loaded: ELF sections, exports, sealed description.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "plugin/elf.hpp"
#include "plugin/metadata.hpp"
#include "plugin/plugin_error.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace backplane;
  static const int file = memfd_create("input.so", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data, size, 0) != static_cast<ssize_t>(size)) return 1;
  try {
    ReadPlugins(path);
  } catch (const PluginError&) {
    // rejected with an error
  }
  try {
    ElfFile(path).Needed();
  } catch (const PluginError&) {
  }
  try {
    ParseMetadata({reinterpret_cast<const char*>(data), size}, "input.so");  // the description without its file
  } catch (const PluginError&) {
  }
  return 0;
}
