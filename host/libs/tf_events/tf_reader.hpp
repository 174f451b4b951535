// Scalars of TensorBoard's event files, read without protobuf while another program still writes them: as PyTorch, tensorboardX
// (simple_value) and TensorFlow 2 (a tensor of one number) do.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

namespace backplane {

struct TfValue {
  double wall_time = 0;  // seconds since 1970
  int64_t step = 0;
  std::string tag;
  double value = 0;
};

// Calls `use` with each scalar of an event, the content of one record. Images, texts and histograms are passed over, and so is
// what is no event.
void ForEachScalar(std::string_view event, const std::function<void(const TfValue&)>& use);

// One file, from its beginning on. Not thread-safe.
class TfEventReader {
 public:
  explicit TfEventReader(std::filesystem::path file) : file_(std::move(file)) {}

  // The scalars of all records that have become whole since the last call; a record that is still being written comes with a
  // later one. A file that is not there, or not any more, has none.
  void Read(const std::function<void(const TfValue&)>& use);
  // Where a checksum is wrong: nothing after it is read. Empty: all is well.
  const std::string& damage() const { return damage_; }

 private:
  // Of the bytes at offset_; how many records' bytes were used. Absent: the first record needs more, `wanted_bytes` in all.
  std::optional<uint64_t> TakeRecords(std::string_view bytes, uint64_t file_bytes, uint64_t* wanted_bytes,
                                      const std::function<void(const TfValue&)>& use);

  std::filesystem::path file_;
  uint64_t offset_ = 0;  // of the first record that was not read yet
  std::string damage_;
};

}  // namespace backplane
