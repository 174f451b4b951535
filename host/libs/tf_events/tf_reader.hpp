// Reads scalars from TensorBoard event files without protobuf, even while another program writes them. Supports the forms of
// PyTorch, tensorboardX (simple_value) and TensorFlow 2 (a tensor of one number).
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

// Calls `use` with each scalar of an event (the content of one record). Skips images, texts, histograms and invalid events.
void ForEachScalar(std::string_view event, const std::function<void(const TfValue&)>& use);

// Reads one file from its start. Not thread-safe.
class TfEventReader {
 public:
  explicit TfEventReader(std::filesystem::path file) : file_(std::move(file)) {}

  // Returns the scalars of records completed since the last call; a partial record waits for a later one. A missing or deleted
  // file has none.
  void Read(const std::function<void(const TfValue&)>& use);
  // The place of a wrong checksum; reading stops there. Empty if there is none.
  const std::string& damage() const { return damage_; }

 private:
  // Parses the bytes at offset_ and returns the bytes of whole records. Absent if the first record needs more bytes,
  // `wanted_bytes`.
  std::optional<uint64_t> TakeRecords(std::string_view bytes, uint64_t file_bytes, uint64_t* wanted_bytes,
                                      const std::function<void(const TfValue&)>& use);

  std::filesystem::path file_;
  uint64_t offset_ = 0;  // of the first unread record
  std::string damage_;
};

}  // namespace backplane
