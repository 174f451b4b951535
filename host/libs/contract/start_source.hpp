// The policy from which a trial starts (`learner.start_from`): a checkpoint of another trial, or a file of arrays. Each session
// keeps a copy in OUT/starts, so that the source may change or vanish while trials wait.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <stdexcept>
#include <string>

#include "record/kept_start.hpp"

namespace backplane {

// The source does not exist or cannot be used. The sentence contains expected and got.
struct StartSourceError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct StartSource : KeptStart {
  std::filesystem::path file;  // to copy
};

// Finds OUT/TRIAL, OUT (its only trial), OUT/trials/ID or a file; behind a trial @best, @last (the default) or @N, as in
// contract/checkpoint_files.hpp. `text` is absolute. Throws StartSourceError.
StartSource FindStartSource(const std::string& text);

// The newest kept copy of this source. Absent: there is none.
std::optional<KeptStart> FindKeptStart(const std::filesystem::path& out, const std::string& source);

// Copies the source into OUT/starts, unless the content with this hash is there already, and returns its record. Shares the
// bytes with the source (a hard link) if both are on one file system, because checkpoints are replaced and never changed.
// Throws std::runtime_error, also if the source has changed since it was hashed.
KeptStart KeepStart(const std::filesystem::path& out, const std::string& source, const std::string& sha256);

}  // namespace backplane
