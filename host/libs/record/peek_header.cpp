#include "record/peek_header.hpp"

#include <fstream>

#include "base/json_depth.hpp"

namespace backplane {

std::optional<CheckpointHeader> PeekHeader(const std::filesystem::path& file) {
  constexpr uint64_t kMostBytes = 1 << 28;
  constexpr size_t kDigestBytes = 32;
  std::error_code error;
  if (!std::filesystem::is_regular_file(file, error)) return std::nullopt;  // opening a FIFO would block
  std::ifstream in(file, std::ios::binary);
  std::string magic(kCheckpointMagic.size(), ' '), digest(kDigestBytes, ' '), text;
  uint64_t bytes = 0;
  if (!in.read(magic.data(), static_cast<std::streamsize>(magic.size())) || magic != kCheckpointMagic) return std::nullopt;
  if (!in.read(reinterpret_cast<char*>(&bytes), sizeof bytes) || bytes > kMostBytes) return std::nullopt;
  text.resize(bytes);
  if (!in.read(digest.data(), kDigestBytes) || !in.read(text.data(), static_cast<std::streamsize>(bytes))) return std::nullopt;
  const nlohmann::json json = IsNestedTooDeeply(text) ? nlohmann::json() : nlohmann::json::parse(text, nullptr, false);
  return RecordOrNothing<CheckpointHeader>(json);
}

}  // namespace backplane
