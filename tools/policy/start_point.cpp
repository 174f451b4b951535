#include "policy/start_point.hpp"

#include <cstring>
#include <fstream>
#include <map>
#include <set>

#include "base/sha256.hpp"
#include "record/attempt_json.hpp"
#include "record/checkpoint_header.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr char kMagic[] = "BPCKPT2\n";
constexpr uint64_t kMostHeader = 1 << 28;

// The number of complete iterations. Absent: no whole header. The trial's process checks the rest of the file.
std::optional<uint64_t> IterationsOf(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  char magic[8], hash[32];
  unsigned char size[8];
  if (!in.read(magic, 8) || std::memcmp(magic, kMagic, 8) != 0) return std::nullopt;
  if (!in.read(reinterpret_cast<char*>(size), 8) || !in.read(hash, 32)) return std::nullopt;
  uint64_t bytes = 0;
  for (int i = 7; i >= 0; --i) bytes = bytes << 8 | size[i];
  if (bytes > kMostHeader) return std::nullopt;
  std::string text(bytes, ' ');
  if (!in.read(text.data(), static_cast<std::streamsize>(bytes))) return std::nullopt;
  const nlohmann::json json = nlohmann::json::parse(text, nullptr, false);
  const auto header = json.is_discarded() ? std::nullopt : RecordOrNothing<CheckpointHeader>(json);
  return header ? std::optional(header->iterations) : std::nullopt;
}

}  // namespace

StartPoint NearestBefore(const TrialFolder& trial, uint64_t iteration) {
  std::vector<fs::path> folders = {trial.checkpoint()};
  for (unsigned number = 1; number <= trial.LastAttempt(); ++number) folders.push_back(trial.checkpoint_before(number));
  StartPoint best;
  for (const fs::path& folder : folders) {
    std::error_code error;
    for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
      if (it->path().extension() != ".bin") continue;
      const std::optional<uint64_t> iterations = IterationsOf(it->path());
      if (iterations && *iterations<iteration&& * iterations> best.iterations) best = {it->path(), *iterations};
    }
  }
  return best;
}

std::optional<double> SecondsOf(const TrialFolder& trial, uint64_t from, uint64_t to) {
  std::map<uint64_t, double> ends;  // by iteration
  for (unsigned number = 1; number <= trial.LastAttempt(); ++number)
    ForEachIteration(trial.attempt(number).metrics(), [&](const Iteration& line) {
      if (line.iteration && line.time.t) ends[*line.iteration] = *line.time.t;
    });
  const auto end = ends.find(to), begin = ends.find(from);
  if (end == ends.end() || (from > 0 && begin == ends.end())) return std::nullopt;
  return end->second - (from > 0 ? begin->second : 0);
}

}  // namespace backplane
