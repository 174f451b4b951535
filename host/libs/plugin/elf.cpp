#include "plugin/elf.hpp"

#include <elf.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <sstream>

#include "base/files.hpp"
#include "plugin/plugin_error.hpp"

namespace backplane {
namespace {

#if defined(__x86_64__)
constexpr uint16_t kMachine = EM_X86_64;
#elif defined(__aarch64__)
constexpr uint16_t kMachine = EM_AARCH64;
#else
#error "the ABI is for 64-bit little-endian machines; add this one's EM_ number"
#endif

std::string MachineName(uint16_t machine) {
  switch (machine) {
    case EM_X86_64: return "x86-64";
    case EM_AARCH64: return "aarch64";
    case EM_386: return "i386";
    case EM_ARM: return "arm";
    case EM_RISCV: return "riscv";
    default: return "machine " + std::to_string(machine);
  }
}

// The entries of a table section; a rest that is shorter than one entry is ignored.
template <class Entry>
std::vector<Entry> Entries(const std::string& bytes) {
  std::vector<Entry> entries(bytes.size() / sizeof(Entry));
  if (!entries.empty()) std::memcpy(entries.data(), bytes.data(), entries.size() * sizeof(Entry));
  return entries;
}

// Sections are read whole. Real symbol and string tables are much smaller, but a damaged size field may be larger.
constexpr uint64_t kMaxSectionBytes = 64 << 20;

// The text at `offset` of a string table, cut beyond the length of any relevant name; empty if out of range.
std::string NameAt(const std::string& names, uint64_t offset) {
  constexpr size_t kMaxNameBytes = 256;
  return offset < names.size() ? std::string(names.c_str() + offset, strnlen(names.c_str() + offset, kMaxNameBytes))
                               : std::string();
}

bool IsExported(const Elf64_Sym& symbol) {
  const unsigned bind = ELF64_ST_BIND(symbol.st_info), visibility = ELF64_ST_VISIBILITY(symbol.st_other);
  return symbol.st_shndx != SHN_UNDEF && (bind == STB_GLOBAL || bind == STB_WEAK || bind == STB_GNU_UNIQUE) &&
         (visibility == STV_DEFAULT || visibility == STV_PROTECTED);
}

}  // namespace

ElfFile::ElfFile(const std::filesystem::path& file) : file_(file) {
  std::string why_not;
  fd_ = OpenRegularFile(file, &why_not);
  struct stat status {};
  if (fd_ < 0 || fstat(fd_, &status) != 0) {
    if (fd_ >= 0) close(fd_);
    throw PluginError(file.string() + ": cannot be opened: " + (fd_ < 0 ? why_not : std::strerror(errno)));
  }
  size_ = static_cast<uint64_t>(status.st_size);
  try {
    ReadHeader();
  } catch (...) {
    close(fd_);  // a constructor that throws runs no destructor
    throw;
  }
}

ElfFile::~ElfFile() { close(fd_); }

std::string ElfFile::ReadAt(uint64_t offset, uint64_t size) const {
  if (offset > size_ || size > size_ - offset) {
    throw PluginError(file_.string() + ": is damaged: it refers to " + std::to_string(size) + " bytes at offset " +
                      std::to_string(offset) + ", but has only " + std::to_string(size_) + " bytes");
  }
  if (size > kMaxSectionBytes) {
    throw PluginError(file_.string() + ": is damaged: a section has " + std::to_string(size) + " bytes, the limit is " +
                      std::to_string(kMaxSectionBytes));
  }
  std::string bytes(size, '\0');
  for (uint64_t done = 0; done < size;) {
    const ssize_t n = pread(fd_, bytes.data() + done, size - done, static_cast<off_t>(offset + done));
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) throw PluginError(file_.string() + ": cannot be read: " + (n < 0 ? std::strerror(errno) : "it became shorter"));
    done += static_cast<uint64_t>(n);
  }
  return bytes;
}

void ElfFile::ReadHeader() {
  Elf64_Ehdr header{};
  if (size_ < sizeof header || ReadAt(0, SELFMAG) != ELFMAG) {
    throw PluginError(file_.string() + ": is not an ELF file; expected a shared library");
  }
  std::memcpy(&header, ReadAt(0, sizeof header).data(), sizeof header);
  if (header.e_ident[EI_CLASS] != ELFCLASS64 || header.e_ident[EI_DATA] != ELFDATA2LSB || header.e_machine != kMachine) {
    throw PluginError(file_.string() + ": is built for a different machine: expected 64-bit " + MachineName(kMachine) +
                      ", got " + (header.e_ident[EI_CLASS] == ELFCLASS64 ? "64" : "32") + "-bit " +
                      MachineName(header.e_machine));
  }
  if (header.e_type != ET_DYN) {
    throw PluginError(file_.string() + ": is not a shared library: expected ELF type " + std::to_string(ET_DYN) + ", got " +
                      std::to_string(header.e_type));
  }
  if (header.e_shnum > 0 && header.e_shentsize == sizeof(Elf64_Shdr)) {
    ReadSections(header.e_shoff, header.e_shnum, header.e_shstrndx);
  }
}

void ElfFile::ReadSections(uint64_t offset, uint64_t count, uint64_t names_index) {
  const auto headers = Entries<Elf64_Shdr>(ReadAt(offset, count * sizeof(Elf64_Shdr)));
  if (names_index >= headers.size()) return;
  const std::string names = ReadAt(headers[names_index].sh_offset, headers[names_index].sh_size);
  for (const Elf64_Shdr& header : headers) {
    sections_.push_back({NameAt(names, header.sh_name), header.sh_type, header.sh_link, header.sh_offset, header.sh_size});
  }
}

const ElfSection* ElfFile::Find(std::string_view name) const {
  for (const ElfSection& section : sections_) {
    if (section.name == name) return &section;
  }
  return nullptr;
}

std::string ElfFile::Read(const ElfSection& section) const {
  // Files with separate debug information keep the headers of sections whose bytes are elsewhere.
  return section.type == SHT_NOBITS ? std::string() : ReadAt(section.offset, section.size);
}

std::string ElfFile::NamesOf(const ElfSection& section) const {
  return section.link < sections_.size() ? Read(sections_[section.link]) : std::string();
}

std::vector<std::string> ElfFile::Exports() const {
  std::vector<std::string> exports;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_DYNSYM) continue;
    const std::string names = NamesOf(section);
    for (const Elf64_Sym& symbol : Entries<Elf64_Sym>(Read(section))) {
      if (IsExported(symbol)) exports.push_back(NameAt(names, symbol.st_name));
    }
  }
  return exports;
}

std::vector<std::string> ElfFile::Imports() const {
  std::vector<std::string> imports;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_DYNSYM) continue;
    const std::string names = NamesOf(section);
    for (const Elf64_Sym& symbol : Entries<Elf64_Sym>(Read(section))) {
      if (symbol.st_shndx == SHN_UNDEF && symbol.st_name != 0) imports.push_back(NameAt(names, symbol.st_name));
    }
  }
  return imports;
}

std::vector<std::string> ElfFile::SearchPaths() const {
  std::vector<std::string> paths;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_DYNAMIC) continue;
    const std::string names = NamesOf(section);
    for (const Elf64_Dyn& entry : Entries<Elf64_Dyn>(Read(section))) {
      if (entry.d_tag != DT_RPATH && entry.d_tag != DT_RUNPATH) continue;
      std::istringstream list(NameAt(names, entry.d_un.d_val));
      for (std::string path; std::getline(list, path, ':');) paths.push_back(path);
    }
  }
  return paths;
}

std::vector<std::string> ElfFile::Needed() const {
  std::vector<std::string> needed;
  for (const ElfSection& section : sections_) {
    if (section.type != SHT_DYNAMIC) continue;
    const std::string names = NamesOf(section);
    for (const Elf64_Dyn& entry : Entries<Elf64_Dyn>(Read(section))) {
      if (entry.d_tag == DT_NEEDED) needed.push_back(NameAt(names, entry.d_un.d_val));
    }
  }
  return needed;
}

}  // namespace backplane
