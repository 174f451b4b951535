// The reader of checkpoints. Random bytes would never pass its checksums, so most inputs are taken apart and signed again.
// Their parts: a byte for the kind, four for the length of the header, the header, the parts.
#include <algorithm>
#include <cstring>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>

#include "base/files.hpp"
#include "base/sha256.hpp"
#include "record/metric_series.hpp"
#include "trial/checkpoint.hpp"
#include "trial/recorder.hpp"

namespace {

using namespace backplane;

constexpr char kTrial[] = "0123456789abcdef";
constexpr uint64_t kRows = 2;
enum How : uint8_t { kAsItIs, kSignedHeader, kSignedParts, kHows };

void Need(bool right) {
  if (!right) __builtin_trap();
}

std::string Raw(const std::string& hex) {
  std::string raw;
  for (size_t i = 0; i < hex.size(); i += 2) raw += static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16));
  return raw;
}

std::string Length(uint64_t n) { return {reinterpret_cast<const char*>(&n), sizeof n}; }

// Updates the checksums of the parts to match their bytes, if the header lists them.
std::string WithChecksums(const std::string& text, const std::string& parts) {
  nlohmann::json header = nlohmann::json::parse(text, nullptr, /*allow_exceptions=*/false);
  if (!header.is_object() || !header.contains("parts") || !header["parts"].is_array()) return text;
  size_t at = 0;
  for (nlohmann::json& part : header["parts"]) {
    if (!part.is_object() || !part.contains("bytes") || !part["bytes"].is_number_unsigned()) continue;
    const auto n = part["bytes"].get<uint64_t>();
    if (n > parts.size() - at) break;
    part["sha256"] = Sha256(std::string_view(parts).substr(at, n));
    at += n;
  }
  return header.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

std::string FileOf(const std::string& input) {
  uint32_t n = 0;
  const uint8_t how = input.empty() ? kAsItIs : static_cast<uint8_t>(input[0]) % kHows;
  if (how == kAsItIs || input.size() < 1 + sizeof n) return input.substr(input.empty() ? 0 : 1);
  std::memcpy(&n, input.data() + 1, sizeof n);
  std::string text = input.substr(1 + sizeof n, n);
  const std::string parts = input.substr(1 + sizeof n + text.size());
  // Only the reader gets deeper headers: building and writing them here would overflow the stack.
  if (how == kSignedParts && std::count(text.begin(), text.end(), '[') + std::count(text.begin(), text.end(), '{') < 1000)
    text = WithChecksums(text, parts);
  return "BPCKPT2\n" + Length(text.size()) + Raw(Sha256(text)) + text + parts;
}

// Restores a valid checkpoint like a trial.
void TakeOver(const Checkpoint& checkpoint) {
  const CheckpointHeader& header = checkpoint.header;
  try {
    CheckUnwritten(header);
    EpisodeWindow window;
    window.Load(header.window, 1);
    window.Returns(), window.Metrics(), window.mean_return();
    if (header.unwritten) {
      Need(header.unwritten->time.sps && header.unwritten->iteration);
      MetricSeries(*header.unwritten);
    }
    Need(RowStatesOf(checkpoint, kRows).size() == kRows);
  } catch (const std::runtime_error&) {
    // rejected with an error
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string file = FileOf({reinterpret_cast<const char*>(data), size});
  std::istringstream in(file);
  Checkpoint checkpoint;
  try {
    checkpoint = ParseCheckpoint(in, file.size(), kTrial);
  } catch (const CheckpointError&) {
    return 0;
  }
  uint64_t bytes = 0;
  for (const auto& [name, part] : checkpoint.parts) bytes += part.size();
  Need(bytes <= file.size());
  TakeOver(checkpoint);
  // Writing it again gives the same bytes.
  std::string again = CheckpointHead(checkpoint);
  for (const auto& [name, part] : checkpoint.parts) again += AsText(part);
  std::istringstream second(again);
  const Checkpoint back = ParseCheckpoint(second, again.size(), kTrial);
  Need(back.parts == checkpoint.parts && back.header.iterations == checkpoint.header.iterations);
  return 0;
}
