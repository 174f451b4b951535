#include "plugin/validated_files.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>
#include <ctime>
#include <utility>
#include <vector>

#include "base/files.hpp"
#include "base/hash64.hpp"
#include "base/sha256.hpp"
#include "plugin/fast_rules.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kMostEntries = 4096;  // above this number, the older half is deleted

fs::path CacheFolder() {
  // By the XDG rules a relative path is none.
  for (const auto& [variable, below] : {std::pair("XDG_CACHE_HOME", ""), std::pair("HOME", ".cache")}) {
    const char* const value = std::getenv(variable);
    if (value != nullptr && fs::path(value).is_absolute()) return fs::path(value) / below / "backplane/validated";
  }
  return {};
}

// A version with different cases checks again.
const std::string& RulesText() {
  static const std::string text = [] {
    std::string names;
    for (const FastRule& rule : kFastRules) names += std::string(rule.name) + "\n";
    return names;
  }();
  return text;
}

// Uses a plain hash: libcrypto needs 3 ms for its first one, and most trials do not need it otherwise.
std::string EntryName(const std::string& what, const std::string& id) {
  const std::string text = "\n" + id + "\n" + RulesText();
  const auto hash = [](const std::string& of) { return Hash64Of(of.data(), of.size()); };
  return fmt::format("{:016x}{:016x}", hash(what + text), hash(text + what));
}

struct FileLook {
  std::string text;      // equal while the file is unchanged
  bool settled = false;  // a change from now on would be seen: it gets another time
};

FileLook LookAt(const fs::path& file) {
  struct stat info {};
  if (stat(file.c_str(), &info) != 0) return {};
  FileLook look;
  for (const auto number :
       {static_cast<uint64_t>(info.st_dev), static_cast<uint64_t>(info.st_ino), static_cast<uint64_t>(info.st_size),
        static_cast<uint64_t>(info.st_mtim.tv_sec), static_cast<uint64_t>(info.st_mtim.tv_nsec),
        static_cast<uint64_t>(info.st_ctim.tv_sec), static_cast<uint64_t>(info.st_ctim.tv_nsec)})
    look.text += std::to_string(number) + " ";
  look.settled = info.st_ctim.tv_sec + 2 < std::time(nullptr);
  return look;
}

}  // namespace

ValidatedFiles::ValidatedFiles() : ValidatedFiles(CacheFolder()) {}

bool ValidatedFiles::Has(const fs::path& file, const std::string& id) const {
  if (folder_.empty()) return false;
  const FileLook look = LookAt(file);
  if (look.text.empty()) return false;
  const std::string by_look = EntryName(look.text, id);
  if (HasEntry(by_look)) return true;
  const std::string by_content = EntryOf(file, id);
  if (by_content.empty() || !HasEntry(by_content)) return false;
  if (look.settled && LookAt(file).text == look.text) Add(by_look);
  return true;
}

std::string ValidatedFiles::EntryOf(const fs::path& file, const std::string& id) const try {
  return EntryName(Sha256OfFile(file), id);
} catch (const std::runtime_error&) {
  return "";
}

void ValidatedFiles::Add(const std::string& entry) const {
  if (folder_.empty() || entry.empty()) return;
  std::error_code error;
  fs::create_directories(folder_, error);
  if (const int fd = open((folder_ / entry).c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, 0644); fd >= 0) close(fd);
  RemoveOld();
}

bool ValidatedFiles::HasEntry(const std::string& name) const { return access((folder_ / name).c_str(), F_OK) == 0; }

void ValidatedFiles::RemoveOld() const {
  std::vector<std::pair<fs::file_time_type, fs::path>> entries;
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(folder_, error)) entries.emplace_back(fs::file_time_type(), entry.path());
  if (entries.size() <= kMostEntries) return;
  for (auto& [written, entry] : entries) written = fs::last_write_time(entry, error);
  std::ranges::sort(entries);
  for (size_t i = 0; i < entries.size() / 2; ++i) fs::remove(entries[i].second, error);
}

}  // namespace backplane
