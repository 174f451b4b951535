#include "base/file_name.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

namespace backplane {
namespace {

bool IsUtf8(const std::string& text) {
  try {
    (void)nlohmann::json(text).dump();  // strict by default
    return true;
  } catch (const nlohmann::json::type_error&) {
    return false;
  }
}

}  // namespace

bool IsFileName(const std::string& text) {
  if (text.empty() || text.front() == '.' || !IsUtf8(text)) return false;
  return std::none_of(text.begin(), text.end(), [](unsigned char c) { return c < 0x20 || c == 0x7f || c == '/' || c == '\\'; });
}

std::filesystem::path FolderName(const std::filesystem::path& typed) {
  const std::filesystem::path normal = typed.lexically_normal();
  return normal.has_filename() ? normal : normal.parent_path();
}

}  // namespace backplane
