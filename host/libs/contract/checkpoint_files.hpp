// The files of a trial's checkpoints: checkpoint.bin, those before it as checkpoint.1.bin and so on, and best.bin.
#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

inline constexpr char kCheckpointFile[] = "checkpoint.bin";
inline constexpr char kBestCheckpointFile[] = "best.bin";
// Files of a learner (backplane/ext/file.h), NAME.data next to the checkpoints that describe them.
inline constexpr char kLearnerFileSuffix[] = ".data";
std::vector<std::filesystem::path> LearnerFilesIn(const std::filesystem::path& dir);
inline constexpr unsigned kKeptCheckpoints = 2;

// A person names a checkpoint by one of these words, or by the number of iterations that were complete.
inline constexpr std::string_view kLastCheckpoint = "last", kBestCheckpoint = "best";
// The policy before the first iteration, which needs no checkpoint.
inline constexpr std::string_view kStartCheckpoint = "start";
// An error of the option --checkpoint unless `word` is one of these names.
std::string WhyNoCheckpointName(std::string_view word);

// Number 0 is the newest one.
std::filesystem::path CheckpointFile(const std::filesystem::path& dir, unsigned number);
bool IsCheckpointFile(const std::filesystem::path& file);  // it is a regular file
// Whether a trial can resume here: a checkpoint exists, whole or damaged. Drafts of a killed write do not count.
bool HasCheckpoint(const std::filesystem::path& dir);

}  // namespace backplane
