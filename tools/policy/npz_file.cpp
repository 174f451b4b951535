#include "policy/npz_file.hpp"

#include <boost/crc.hpp>
#include <limits>
#include <stdexcept>

#include "base/files.hpp"

namespace backplane {
namespace {

// Little-endian integers.
std::string Bytes(uint64_t value, int n) {
  std::string bytes;
  for (int i = 0; i < n; ++i) bytes += static_cast<char>(value >> (8 * i) & 255);
  return bytes;
}

// The fields that the local header and the central directory share.
std::string ZipEntry(const std::string& name, const std::string& data) {
  constexpr uint64_t kVersion = 20, kDate = (1 << 5) + 1;  // 1980-01-01: the same content gives the same file
  boost::crc_32_type crc;
  crc.process_bytes(data.data(), data.size());
  return Bytes(kVersion, 2) + Bytes(0, 2) + Bytes(0, 2) + Bytes(0, 2) + Bytes(kDate, 2) + Bytes(crc.checksum(), 4) +
         Bytes(data.size(), 4) + Bytes(data.size(), 4) + Bytes(name.size(), 2);
}

}  // namespace

void WriteNpz(const std::filesystem::path& to, const std::vector<std::pair<std::string, std::filesystem::path>>& arrays) {
  std::string zip, directory;
  for (const auto& [array, file] : arrays) {
    const std::string name = array + ".npy";
    const std::optional<std::string> data = ReadFile(file);
    if (!data) throw std::runtime_error(file.string() + " cannot be read");
    const std::string entry = ZipEntry(name, *data);
    const size_t at = zip.size();
    zip += "PK\x03\x04" + entry + Bytes(0, 2) + name + *data;
    if (zip.size() > std::numeric_limits<uint32_t>::max()) throw std::runtime_error(to.string() + " would exceed 4 GiB");
    directory += "PK\x01\x02" + Bytes(20, 2) + entry + Bytes(0, 2 + 2 + 2 + 2 + 4) + Bytes(at, 4) + name;
  }
  zip += directory + "PK\x05\x06" + Bytes(0, 4) + Bytes(arrays.size(), 2) + Bytes(arrays.size(), 2) +
         Bytes(directory.size(), 4) + Bytes(zip.size(), 4) + Bytes(0, 2);
  WriteFileAtomic(to, zip);
}

}  // namespace backplane
