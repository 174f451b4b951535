// CRC-32C (Castagnoli, as in iSCSI), for event files. Independent of the host.
#pragma once

#include <cstdint>
#include <string_view>

namespace backplane {

// `before`: checksum of the preceding bytes. Uses the processor's instruction if it has one.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);
uint32_t Crc32cByTable(std::string_view bytes, uint32_t before = 0);  // portable, about twenty times slower

}  // namespace backplane
