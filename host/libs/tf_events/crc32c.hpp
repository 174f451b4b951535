// CRC-32C (Castagnoli), as iSCSI has it. Part of the library of event files: it knows nothing of the host.
#pragma once

#include <cstdint>
#include <string_view>

namespace backplane {

// `before`: that of the bytes before these, to go on from. By the processor's instruction where it has one.
uint32_t Crc32c(std::string_view bytes, uint32_t before = 0);
uint32_t Crc32cByTable(std::string_view bytes, uint32_t before = 0);  // the same anywhere, some twenty times slower

}  // namespace backplane
