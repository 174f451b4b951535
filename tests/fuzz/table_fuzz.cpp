// A data set of texts: the first byte selects the reader's options, the rest is the file.
#include <sys/mman.h>
#include <unistd.h>

#include <cstdint>
#include <string>

#include "backplane/plugin.hpp"
#include "envs/summarization/records.hpp"

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  using namespace backplane::summarization;
  if (size == 0) return 0;
  static const int file = memfd_create("input", MFD_CLOEXEC);
  static const std::string path = "/proc/self/fd/" + std::to_string(file);
  if (ftruncate(file, 0) != 0 || pwrite(file, data + 1, size - 1, 0) != static_cast<ssize_t>(size - 1)) return 1;
  ReadOptions options;
  options.format = static_cast<Format>(data[0] % 3);
  options.skip_bad_rows = (data[0] & 4) != 0;
  options.columns = {"a", {"b"}, (data[0] & 8) != 0 ? "id" : ""};
  if ((data[0] & 16) != 0) options.columns.targets.push_back("c");
  try {
    ReadRecords(path, options, [](const Record& record) {
      if (record.targets.empty() || record.source.empty()) __builtin_trap();
      if (FindBadUtf8(record.source) != std::string_view::npos) __builtin_trap();
    });
  } catch (const bp::Error&) {
    // an error that names file, row and line
  }
  return 0;
}
