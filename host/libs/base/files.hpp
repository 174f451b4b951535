// Small files that must be whole or absent.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

// Writes a temporary file, syncs, renames it and syncs the folder: readers see the old or the new text, even after a power
// failure. Throws std::runtime_error.
void WriteFileAtomic(const std::filesystem::path& file, const std::string& text);

// The same without syncing to disk, for frequently rewritten files that a power failure may lose.
void ReplaceFile(const std::filesystem::path& file, const std::string& text);

// For callers that need other actions between the steps of WriteFileAtomic: writes the pieces in order and syncs, under the
// final name. Removes a partial file. Throws std::runtime_error.
void WriteDurably(const std::filesystem::path& file, const std::vector<std::string_view>& pieces);
// Makes new, changed and removed names in the folder durable, if the file system supports it. Throws std::runtime_error.
void SyncFolder(const std::filesystem::path& folder);

// Absent also if it is not a regular file: opening a pipe would wait for a writer, and a device may never end.
std::optional<std::string> ReadFile(const std::filesystem::path& file);

struct FileText {
  std::optional<std::string> text;
  std::string why_not;  // "is a pipe, not a regular file"
};
// The same with a reason, for files of at most `most_bytes`.
FileText ReadRegularFile(const std::filesystem::path& file, uint64_t most_bytes);

// Opens a regular file for reading and returns its descriptor; -1: failed, with the reason in `why_not`. Never blocks.
int OpenRegularFile(const std::filesystem::path& file, std::string* why_not);

// Not open unless it is a regular file.
std::ifstream OpenStream(const std::filesystem::path& file);

// The last `count` lines that are not empty; reads at most the last 64 KiB of the file.
std::vector<std::string> LastLines(const std::filesystem::path& file, size_t count);

}  // namespace backplane
