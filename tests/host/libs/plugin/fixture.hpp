// The fixture plugins, and copies for damaging.
#pragma once

#include <unistd.h>

#include <filesystem>
#include <fstream>
#include <string>

#include "places.hpp"
#include "plugin/elf.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {

// "env_good" -> the built file.
inline std::filesystem::path Fixture(const std::string& stem) {
  return std::filesystem::path(BACKPLANE_BINARY_DIR) / "tests/fixtures/plugins" / (stem + ".so");
}

// An empty folder, removed with its object.
class TempFolder {
 public:
  TempFolder() {
    std::string pattern = std::filesystem::temp_directory_path() / "backplane_XXXXXX";
    path_ = mkdtemp(pattern.data());
  }
  ~TempFolder() { std::filesystem::remove_all(path_); }
  std::filesystem::path Copy(const std::string& stem) const {
    std::filesystem::copy_file(Fixture(stem), path_ / (stem + ".so"));
    return path_ / (stem + ".so");
  }
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

inline void Overwrite(const std::filesystem::path& file, uint64_t offset, const std::string& bytes) {
  std::fstream out(file, std::ios::in | std::ios::out | std::ios::binary);
  out.seekp(static_cast<std::streamoff>(offset));
  out << bytes;
}

// Replaces the metadata of a file, sealed or not.
inline void SetMetadata(const std::filesystem::path& file, std::string text) {
  const ElfSection section = *ElfFile(file).Find(".bp.meta");
  text.resize(section.size);
  Overwrite(file, section.offset, text);
}

inline std::string Metadata(const std::filesystem::path& file) {
  const ElfFile elf(file);
  return elf.Read(*elf.Find(".bp.meta")).c_str();
}

// The message of the exception that `body` throws.
template <class Body>
std::string SentenceOf(Body&& body) {
  try {
    body();
  } catch (const PluginError& e) {
    return e.what();
  }
  return "nothing was thrown";
}

}  // namespace backplane
