// Small files that must be whole or absent, and hashes of files.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace backplane {

// Temporary name, fsync, rename, fsync of the folder: a reader sees the old text or the new one, also after a power cut.
// Throws std::runtime_error.
void WriteFileAtomic(const std::filesystem::path& file, const std::string& text);

// The same for readers, but without waiting for the disk: for what is written again and again and can be lost with the power.
void ReplaceFile(const std::filesystem::path& file, const std::string& text);

std::optional<std::string> ReadFile(const std::filesystem::path& file);

// The last `count` lines that are not empty; reads at most the last 64 KiB of the file.
std::vector<std::string> LastLines(const std::filesystem::path& file, size_t count);

// 64 lower-case hex digits. The file form throws std::runtime_error if the file can not be read.
std::string Sha256(const std::string& text);
std::string Sha256OfFile(const std::filesystem::path& file);

}  // namespace backplane
