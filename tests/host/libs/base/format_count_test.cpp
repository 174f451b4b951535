#include "base/format_count.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(FormatCount, ThousandsAreSetApartByCommas) {
  EXPECT_EQ("0", FormatCount(0));
  EXPECT_EQ("999", FormatCount(999));
  EXPECT_EQ("1,000", FormatCount(1000));
  EXPECT_EQ("1,234,567", FormatCount(1234567));
}

}  // namespace
}  // namespace backplane
