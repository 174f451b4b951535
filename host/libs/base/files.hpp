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

// Temporary name, fsync, rename, fsync of the folder: a reader sees the old text or the new one, also after a power cut.
// Throws std::runtime_error.
void WriteFileAtomic(const std::filesystem::path& file, const std::string& text);

// The same for readers, but without waiting for the disk: for what is written again and again and can be lost with the power.
void ReplaceFile(const std::filesystem::path& file, const std::string& text);

// The steps of WriteFileAtomic for callers that do more between them: one piece after the other and fsync, under the file's own
// name. What could not be written whole is removed again. Throws std::runtime_error.
void WriteDurably(const std::filesystem::path& file, const std::vector<std::string_view>& pieces);
// Names that were given, changed or taken in it are on the disk afterwards, where the file system lets one ask for it. Throws
// std::runtime_error.
void SyncFolder(const std::filesystem::path& folder);

// Nothing also for what is no regular file: opening a pipe would wait for a writer, and a device may have no end.
std::optional<std::string> ReadFile(const std::filesystem::path& file);

struct FileText {
  std::optional<std::string> text;
  std::string why_not;  // "is a pipe, not a regular file"
};
// The same with a reason, and of a file of at most `most_bytes`.
FileText ReadRegularFile(const std::filesystem::path& file, uint64_t most_bytes);

// A file descriptor of a regular file, opened for reading; -1: none, and why in `why_not`. Never waits.
int OpenRegularFile(const std::filesystem::path& file, std::string* why_not);

// Not open for what is no regular file.
std::ifstream OpenStream(const std::filesystem::path& file);

// The last `count` lines that are not empty; reads at most the last 64 KiB of the file.
std::vector<std::string> LastLines(const std::filesystem::path& file, size_t count);

}  // namespace backplane
