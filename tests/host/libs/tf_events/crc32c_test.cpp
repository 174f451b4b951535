#include "tf_events/crc32c.hpp"

#include <gtest/gtest.h>

#include <string>

namespace backplane {
namespace {

TEST(Crc32c, IsCastagnolis) {
  for (const auto crc : {Crc32c, Crc32cByTable}) {
    EXPECT_EQ(crc("123456789", 0), 0xE3069283u);
    EXPECT_EQ(crc(std::string(32, '\0'), 0), 0x8A9136AAu) << "RFC 3720, B.4";
    EXPECT_EQ(crc(std::string(32, '\xff'), 0), 0x62A8AB43u) << "RFC 3720, B.4";
    EXPECT_EQ(crc("", 0), 0u);
  }
}

TEST(Crc32c, ContinuesFromAnyByteWithAndWithoutTheInstruction) {
  std::string bytes;
  for (int i = 0; i < 40; ++i) bytes += static_cast<char>(7 * i);
  const uint32_t whole = Crc32cByTable(bytes);
  for (size_t cut = 0; cut <= bytes.size(); ++cut) {
    EXPECT_EQ(Crc32c(bytes.substr(cut), Crc32cByTable(bytes.substr(0, cut))), whole) << cut;
    EXPECT_EQ(Crc32cByTable(bytes.substr(cut), Crc32c(bytes.substr(0, cut))), whole) << cut;
  }
}

}  // namespace
}  // namespace backplane
