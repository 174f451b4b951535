// TensorBoard's event files, written without protobuf: a second libprotobuf in a process can clash with LibTorch's. A library
// of its own, which knows nothing of the host: `export tb` and plugins link it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>

namespace backplane {

// Whole records: length, checksum, event, checksum. wall_time: seconds since 1970.
std::string TfFileVersion(double wall_time);                 // the first record of every file
std::string TfSessionStart(double wall_time, int64_t step);  // readers drop what earlier files say of `step` and later ones
std::string TfScalar(double wall_time, int64_t step, std::string_view tag, float value);

// Dashboards made for other libraries look for these two: "charts/SPS" for "sps", "charts/episodic_return" for "return", empty
// for any other name.
std::string_view ChartAlias(std::string_view name);

// TensorBoard takes a folder for one run and reads its files in the order of their names: by start, then by `sequence`.
std::string TfFileName(double start_time, uint64_t sequence);

// One file of events. Not thread-safe. Throws std::runtime_error naming the file when it can not be written.
class TfEventFile {
 public:
  // Makes the folder if it is absent, and the file anew.
  TfEventFile(const std::filesystem::path& file, double start_time);

  void SessionStart(double wall_time, int64_t step);
  // The alias too, where there is one.
  void Scalar(double wall_time, int64_t step, std::string_view name, double value);
  // Records before it are with the operating system afterwards, whole ones only: a reader may follow.
  void Flush();

 private:
  std::filesystem::path file_;
  std::ofstream out_;
  std::string waiting_;
};

}  // namespace backplane
