#include "tf_events/crc32c.hpp"

#include <array>
#include <cstring>

namespace backplane {
namespace {

constexpr std::array<uint32_t, 256> CrcTable() {
  std::array<uint32_t, 256> table{};
  for (uint32_t i = 0; i < table.size(); ++i) {
    uint32_t crc = i;
    for (int bit = 0; bit < 8; ++bit) {
      crc = (crc >> 1) ^ ((crc & 1) != 0 ? 0x82F63B78u : 0);
    }
    table[i] = crc;
  }
  return table;
}

#if defined(__x86_64__)
__attribute__((target("sse4.2"))) uint32_t ByInstruction(std::string_view bytes, uint32_t before) {
  uint64_t crc = ~before;
  size_t at = 0;
  for (; at + sizeof(uint64_t) <= bytes.size(); at += sizeof(uint64_t)) {
    uint64_t word = 0;
    std::memcpy(&word, bytes.data() + at, sizeof word);
    crc = __builtin_ia32_crc32di(crc, word);
  }
  uint32_t rest = static_cast<uint32_t>(crc);
  for (; at < bytes.size(); ++at) {
    rest = __builtin_ia32_crc32qi(rest, static_cast<uint8_t>(bytes[at]));
  }
  return ~rest;
}
#endif

}  // namespace

uint32_t Crc32cByTable(std::string_view bytes, uint32_t before) {
  static constexpr std::array<uint32_t, 256> kTable = CrcTable();
  uint32_t crc = ~before;
  for (const char byte : bytes) {
    crc = (crc >> 8) ^ kTable[(crc ^ static_cast<uint8_t>(byte)) & 0xFF];
  }
  return ~crc;
}

uint32_t Crc32c(std::string_view bytes, uint32_t before) {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("sse4.2")) return ByInstruction(bytes, before);
#endif
  return Crc32cByTable(bytes, before);
}

}  // namespace backplane
