// The parts of an ELF64 file that are needed before loading it: sections, exports and needed libraries.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace backplane {

struct ElfSection {
  std::string name;
  uint32_t type = 0, link = 0;  // SHT_*; index of the section with its names
  uint64_t offset = 0, size = 0;
};

// The file is untrusted: every offset is checked against the file's size before use.
class ElfFile {
 public:
  // Throws PluginError unless it is a 64-bit shared library for the machine this host runs on.
  explicit ElfFile(const std::filesystem::path& file);
  ~ElfFile();
  ElfFile(const ElfFile&) = delete;
  ElfFile& operator=(const ElfFile&) = delete;

  const ElfSection* Find(std::string_view name) const;  // NULL: no such section
  std::string Read(const ElfSection& section) const;
  std::vector<std::string> Exports() const;      // defined names in .dynsym, which `strip` keeps
  std::vector<std::string> Imports() const;      // the names that it wants from others
  std::vector<std::string> Needed() const;       // DT_NEEDED names
  std::vector<std::string> SearchPaths() const;  // of DT_RPATH and DT_RUNPATH, one by one

 private:
  std::string ReadAt(uint64_t offset, uint64_t size) const;
  void ReadHeader();
  void ReadSections(uint64_t offset, uint64_t count, uint64_t names_index);
  std::string NamesOf(const ElfSection& section) const;

  std::filesystem::path file_;
  int fd_ = -1;
  uint64_t size_ = 0;
  std::vector<ElfSection> sections_;
};

}  // namespace backplane
