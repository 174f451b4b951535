#include "render/report_manifest.hpp"

#include <algorithm>
#include <sstream>

#include "base/files.hpp"
#include "base/sha256.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;

constexpr size_t kHashDigits = 64, kSeparator = 2;  // format of `sha256sum`, which can check it

// Removes no file outside the folder, whatever the list contains.
bool IsWithin(const fs::path& file) {
  return !file.empty() && file.is_relative() &&
         std::none_of(file.begin(), file.end(), [](const fs::path& part) { return part == ".."; });
}

bool IsAsWritten(const fs::path& file, const std::string& hash) {
  std::error_code error;
  if (!fs::is_regular_file(fs::symlink_status(file, error))) {
    return false;
  }
  const std::optional<std::string> text = ReadFile(file);
  return text && Sha256(*text) == hash;
}

}  // namespace

ReportManifest::ReportManifest(fs::path folder, const std::string& name)
    : folder_(std::move(folder)), list_(folder_ / ("." + name + "_report.sha256")) {}

void ReportManifest::RemoveOthers(const std::vector<fs::path>& files) const {
  std::istringstream lines(ReadFile(list_).value_or(""));
  for (std::string line; std::getline(lines, line);) {
    if (line.size() <= kHashDigits + kSeparator) {
      continue;
    }
    const fs::path file = line.substr(kHashDigits + kSeparator);
    const bool is_kept = std::find(files.begin(), files.end(), file) != files.end();
    if (!is_kept && IsWithin(file) && IsAsWritten(folder_ / file, line.substr(0, kHashDigits))) {
      std::error_code error;  // a leftover old file is harmless
      fs::remove(folder_ / file, error);
    }
  }
}

void ReportManifest::Write(const std::vector<fs::path>& files) const {
  std::string text;
  for (const fs::path& file : files) {
    text += Sha256OfFile(folder_ / file) + std::string(kSeparator, ' ') + file.generic_string() + "\n";
  }
  WriteFileAtomic(list_, text);
}

}  // namespace backplane
