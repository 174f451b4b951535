// Writes TensorBoard event files without protobuf, because a second libprotobuf in a process can clash with LibTorch's. The
// library is independent of the host; `export tb` and plugins link it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace backplane {

// Whole records: length, checksum, event, checksum. wall_time: seconds since 1970.
std::string TfFileVersion(double wall_time);                 // the first record of every file
std::string TfSessionStart(double wall_time, int64_t step);  // readers drop earlier files' records from `step` on
std::string TfScalar(double wall_time, int64_t step, std::string_view tag, float value);

// The names that dashboards of other libraries expect: "charts/SPS" for "sps", "charts/episodic_return" for "return", empty for
// any other name.
std::string_view ChartAlias(std::string_view name);

// TensorBoard treats a folder as one run and reads its files in the order of their names: by start, then by `sequence`.
std::string TfFileName(double start_time, uint64_t sequence);

// One event file. Not thread-safe. Throws std::runtime_error with the file name if writing fails.
class TfEventFile {
 public:
  // Creates a missing folder and overwrites the file.
  TfEventFile(const std::filesystem::path& file, double start_time);

  void SessionStart(double wall_time, int64_t step);
  // Also writes the alias, if there is one.
  void Scalar(double wall_time, int64_t step, std::string_view name, double value);
  // Passes whole records to the operating system, so that a reader can follow.
  void Flush();

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  std::string waiting_;
};

}  // namespace backplane
