#include "trial/checkpoint.hpp"

#include <array>
#include <cerrno>
#include <cmath>
#include <cstring>
#include <optional>
#include <string>

#include "base/error_words.hpp"
#include "base/files.hpp"
#include "base/json_depth.hpp"
#include "base/json_text.hpp"
#include "base/sha256.hpp"

namespace backplane {
namespace {

[[noreturn]] void Refuse(const std::string& sentence) { throw CheckpointError(sentence); }

// Counts the remaining bytes, so that no allocation exceeds the file.
class Bytes {
 public:
  Bytes(std::istream& in, uint64_t left) : in_(in), left_(left) {}
  uint64_t left() const { return left_; }
  // `what` names the part in the error: "its header".
  void Take(void* out, uint64_t n, const char* what) {
    if (n > left_) Refuse(std::string(what) + " is cut off");
    if (n > 0 && !in_.read(static_cast<char*>(out), static_cast<std::streamsize>(n)))
      Refuse(std::string(what) + " cannot be read");
    left_ -= n;
  }
  std::string TakeText(uint64_t n, const char* what) {
    if (n > left_)
      Refuse(std::string(what) + " is cut off: expected " + std::to_string(n) + " bytes, got " + std::to_string(left_));
    std::string text(n, '\0');
    Take(text.data(), n, what);
    return text;
  }

 private:
  std::istream& in_;
  uint64_t left_;
};

nlohmann::json ParseJson(const std::string& text) {
  if (IsNestedTooDeeply(text)) Refuse("its header is nested too deeply");
  try {
    return nlohmann::json::parse(text);
  } catch (const nlohmann::json::exception& e) {
    Refuse("its header is not JSON: " + WordsOf(e));
  }
}

CheckpointHeader ParseHeader(const std::string& text) {
  const nlohmann::json json = ParseJson(text);
  try {
    return RecordFromJson<CheckpointHeader>(json);
  } catch (const RecordError& e) {
    Refuse(std::string("its header: ") + e.what());
  }
}

// Call before any allocation for the parts.
void CheckHeader(const CheckpointHeader& header, uint64_t bytes_left, const std::string& trial_id) {
  if (header.version != kCheckpointVersion)
    Refuse("expected version " + std::to_string(kCheckpointVersion) + ", got " + std::to_string(header.version));
  if (header.trial_id != trial_id)
    Refuse("it belongs to another trial: expected " + trial_id + ", got " + nlohmann::json(header.trial_id).dump());
  if (!(header.seconds >= 0) || std::isinf(header.seconds)) Refuse("its header: \"seconds\": expected 0 or more");
  if (header.warm_up && (header.warm_up->env_steps > header.env_steps || !(header.warm_up->seconds >= 0) ||
                         !(header.warm_up->seconds <= header.seconds) || !std::isfinite(header.warm_up->epochs) ||
                         header.warm_up->episodes > header.window.total))
    Refuse("its header: \"warm_up\": expected env steps, seconds and episodes from 0 to the whole trial's, got different ones");
  uint64_t sum = 0;
  for (const CheckpointPart& part : header.parts) {
    if (__builtin_add_overflow(sum, part.bytes, &sum)) Refuse("the sizes of its parts overflow");
  }
  if (sum != bytes_left) Refuse("its parts: expected " + std::to_string(sum) + " bytes, got " + std::to_string(bytes_left));
}

std::array<unsigned char, 32> DigestOf(const std::string& text) {
  Sha256Digest digest;
  digest.Add(text.data(), text.size());
  return digest.Bytes();
}

}  // namespace

Checkpoint ParseCheckpoint(std::istream& in, uint64_t size, const std::string& trial_id) {
  Bytes bytes(in, size);
  if (size < kCheckpointMagic.size()) Refuse("it is cut off: " + std::to_string(size) + " bytes");
  if (bytes.TakeText(kCheckpointMagic.size(), "its beginning") != kCheckpointMagic)
    Refuse("it does not start like a checkpoint");
  uint64_t header_bytes = 0;
  bytes.Take(&header_bytes, sizeof header_bytes, "its header");
  std::array<unsigned char, 32> digest{};
  bytes.Take(digest.data(), digest.size(), "its header");
  const std::string text = bytes.TakeText(header_bytes, "its header");
  if (DigestOf(text) != digest) Refuse("its header is damaged: its checksum differs");
  Checkpoint checkpoint{ParseHeader(text), {}};
  CheckHeader(checkpoint.header, bytes.left(), trial_id);
  for (const CheckpointPart& part : checkpoint.header.parts) {
    const auto [place, fresh] = checkpoint.parts.try_emplace(part.name, part.bytes);
    if (!fresh) Refuse("it has the part " + nlohmann::json(part.name).dump() + " twice");
    bytes.Take(place->second.data(), part.bytes, "one of its parts");
    if (Sha256(AsText(place->second)) != part.sha256)
      Refuse("its part " + nlohmann::json(part.name).dump() + " is damaged: its checksum differs");
  }
  return checkpoint;
}

Checkpoint ReadCheckpoint(const std::filesystem::path& file, const std::string& trial_id) {
  try {
    std::error_code error;
    if (!std::filesystem::is_regular_file(file, error)) Refuse("it is not a file");  // opening a FIFO would block forever
    std::ifstream in = OpenStream(file);
    if (!in) Refuse(std::string("it cannot be read: ") + std::strerror(errno));
    // The size of the opened file; a different file may have its name by now.
    const std::streamoff size = in.seekg(0, std::ios::end).tellg();
    if (size < 0 || !in.seekg(0)) Refuse("it cannot be read, because it has no end");
    return ParseCheckpoint(in, static_cast<uint64_t>(size), trial_id);
  } catch (const CheckpointError& e) {
    throw CheckpointError(file.string() + ": " + e.what());
  }
}

std::string CheckpointHead(const Checkpoint& checkpoint) {
  CheckpointHeader header = checkpoint.header;
  header.parts.clear();
  for (const auto& [name, bytes] : checkpoint.parts) header.parts.push_back({name, bytes.size(), Sha256(AsText(bytes))});
  const std::string text = JsonText(ToJson(header));
  const uint64_t size = text.size();
  std::string head(kCheckpointMagic);
  head.append(reinterpret_cast<const char*>(&size), sizeof size);
  const auto digest = DigestOf(text);
  head.append(reinterpret_cast<const char*>(digest.data()), digest.size());
  return head + text;
}

const std::vector<std::byte>& PartOf(const Checkpoint& checkpoint, const std::string& name) {
  const auto found = checkpoint.parts.find(name);
  if (found == checkpoint.parts.end()) throw CheckpointError("it has no part \"" + name + "\"");
  return found->second;
}

std::string_view AsText(const std::vector<std::byte>& bytes) {
  return {reinterpret_cast<const char*>(bytes.data()), bytes.size()};
}

namespace {

void NeedBytes(const char* part, uint64_t found, uint64_t each, uint64_t rows) {
  uint64_t wanted = 0;
  if (!__builtin_mul_overflow(each, rows, &wanted) && wanted == found) return;
  throw CheckpointError(std::string("its part \"") + part + "\": expected " + std::to_string(each) + " bytes for each of " +
                        std::to_string(rows) + " rows, got " + std::to_string(found));
}

}  // namespace

std::vector<RowState> RowStatesOf(const Checkpoint& checkpoint, uint64_t rows) {
  const std::vector<std::byte>& bytes = PartOf(checkpoint, "rows");
  NeedBytes("rows", bytes.size(), sizeof(RowState), rows);
  std::vector<RowState> states(rows);
  if (rows > 0) std::memcpy(states.data(), bytes.data(), bytes.size());
  for (const RowState& state : states) {
    if (state.episode_length < 0 || std::isnan(state.episode_return))
      throw CheckpointError("its part \"rows\" has an episode of length " + std::to_string(state.episode_length) +
                            " and return " + std::to_string(state.episode_return));
  }
  return states;
}

void CheckUnwritten(const CheckpointHeader& header) {
  if (!header.unwritten) return;
  const Iteration& line = *header.unwritten;
  if (line.iteration != header.iterations || line.step != header.env_steps || !line.time.sps || std::isnan(*line.time.sps))
    throw CheckpointError("\"unwritten\": expected the line of iteration " + std::to_string(header.iterations) + ", env step " +
                          std::to_string(header.env_steps) + ", with its SPS, got a different one");
}

}  // namespace backplane
