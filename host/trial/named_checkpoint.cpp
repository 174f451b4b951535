#include "trial/named_checkpoint.hpp"

#include <optional>
#include <vector>

#include "contract/checkpoint_files.hpp"
#include "record/peek_header.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

// All whole or damaged checkpoint files, the newest first, and the best one at the end.
std::vector<fs::path> FilesOf(const fs::path& dir) {
  std::vector<fs::path> files;
  for (unsigned number = 0; IsCheckpointFile(CheckpointFile(dir, number)); ++number)
    files.push_back(CheckpointFile(dir, number));
  if (IsCheckpointFile(dir / kBestCheckpointFile)) files.push_back(dir / kBestCheckpointFile);
  return files;
}

[[noreturn]] void FailUnknown(const fs::path& dir, const std::string& trial_id, const std::string& name) {
  std::string there;
  for (const fs::path& file : FilesOf(dir)) {
    there += (there.empty() ? "" : ", ") + file.filename().string();
    try {
      there += " (after iteration " + std::to_string(ReadCheckpoint(file, trial_id).header.iterations) + ")";
    } catch (const CheckpointError&) {
      there += " (damaged)";
    }
  }
  throw CheckpointError(dir.string() + ": expected checkpoint '" + name + "', got " + (there.empty() ? "none" : there));
}

}  // namespace

Checkpoint ReadNamedCheckpoint(const fs::path& dir, const std::string& trial_id, const std::string& name) {
  if (name == kLastCheckpoint || name == kBestCheckpoint) {
    const fs::path file = name == kBestCheckpoint ? dir / kBestCheckpointFile : CheckpointFile(dir, 0);
    if (!IsCheckpointFile(file)) FailUnknown(dir, trial_id, name);
    return ReadCheckpoint(file, trial_id);
  }
  for (const fs::path& file : FilesOf(dir)) {
    const std::optional<CheckpointHeader> header = PeekHeader(file);
    if (!header || std::to_string(header->iterations) != name) continue;
    try {
      return ReadCheckpoint(file, trial_id);
    } catch (const CheckpointError&) {
      continue;  // best.bin may have the same iteration
    }
  }
  FailUnknown(dir, trial_id, name);
}

}  // namespace backplane
