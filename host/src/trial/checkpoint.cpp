#include "trial/checkpoint.hpp"

#include <cstring>
#include <fstream>
#include <stdexcept>

#include "base/files.hpp"
#include "base/json_text.hpp"

namespace backplane {
namespace {

constexpr char kMagic[] = "BPCKPT1\n";

}  // namespace

void WriteCheckpoint(const std::filesystem::path& dir, const Checkpoint& checkpoint) {
  nlohmann::json header = {{"meta", checkpoint.meta}, {"blobs", nlohmann::json::array()}};
  std::string body;
  for (const auto& [name, bytes] : checkpoint.blobs) {
    header["blobs"].push_back({{"name", name}, {"bytes", bytes.size()}});
    body.append(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  }
  const std::string text = JsonText(header);
  const uint64_t size = text.size();
  std::string file(kMagic, sizeof kMagic - 1);
  file.append(reinterpret_cast<const char*>(&size), sizeof size).append(text).append(body);
  std::filesystem::create_directories(dir);
  WriteFileAtomic(dir / kCheckpointFile, file);
}

std::optional<Checkpoint> ReadCheckpoint(const std::filesystem::path& dir) {
  std::ifstream in(dir / kCheckpointFile, std::ios::binary);
  if (!in) return std::nullopt;
  const std::string file((std::istreambuf_iterator<char>(in)), std::istreambuf_iterator<char>());
  const auto broken = [&](const char* why) {
    return std::runtime_error((dir / kCheckpointFile).string() + ": not a whole checkpoint: " + why);
  };
  size_t at = sizeof kMagic - 1;
  uint64_t size = 0;
  if (file.size() < at + sizeof size || file.compare(0, at, kMagic) != 0) throw broken("it does not start as one");
  std::memcpy(&size, file.data() + at, sizeof size);
  at += sizeof size;
  if (size > file.size() - at) throw broken("its header is cut off");
  Checkpoint out;
  const nlohmann::json header = nlohmann::json::parse(file.substr(at, size));
  at += size;
  out.meta = header.at("meta");
  for (const nlohmann::json& blob : header.at("blobs")) {
    const uint64_t n = blob.at("bytes");
    if (n > file.size() - at) throw broken("its data is cut off");
    const auto* from = reinterpret_cast<const std::byte*>(file.data() + at);
    out.blobs[blob.at("name")] = std::vector<std::byte>(from, from + n);
    at += n;
  }
  return out;
}

}  // namespace backplane
