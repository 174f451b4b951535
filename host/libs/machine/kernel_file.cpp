#include "machine/kernel_file.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <charconv>
#include <memory>

namespace backplane {

std::optional<std::string> ReadKernelFile(const std::filesystem::path& file) {
  const int fd = open(file.c_str(), O_RDONLY | O_CLOEXEC);
  if (fd < 0) return std::nullopt;
  std::string text;
  char block[4096];
  ssize_t n = 0;
  while ((n = read(fd, block, sizeof block)) > 0 || (n < 0 && errno == EINTR)) {
    if (n > 0) text.append(block, static_cast<size_t>(n));
  }
  close(fd);
  return n < 0 ? std::nullopt : std::optional(std::move(text));
}

std::optional<uint64_t> NumberIn(std::string_view text) {
  uint64_t number = 0;
  const auto [end, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
  return fault == std::errc() ? std::optional(number) : std::nullopt;
}

std::optional<uint64_t> NumberAfter(std::string_view text, std::string_view key) {
  for (size_t at = text.find(key); at != std::string_view::npos; at = text.find(key, at + 1)) {
    if (at != 0 && text[at - 1] != '\n') continue;
    const size_t digits = text.find_first_not_of(" \t", at + key.size());
    if (digits == std::string_view::npos || digits == at + key.size()) continue;  // a longer key
    if (const auto number = NumberIn(text.substr(digits))) return number;
  }
  return std::nullopt;
}

std::vector<int> NumberedEntries(const std::filesystem::path& folder) {
  std::vector<int> numbers;
  const std::unique_ptr<DIR, int (*)(DIR*)> entries(opendir(folder.c_str()), closedir);
  if (!entries) return numbers;
  while (const dirent* entry = readdir(entries.get())) {
    const std::string_view name = entry->d_name;
    int number = 0;
    const auto [end, fault] = std::from_chars(name.data(), name.data() + name.size(), number);
    if (fault == std::errc() && end == name.data() + name.size()) numbers.push_back(number);
  }
  return numbers;
}

}  // namespace backplane
