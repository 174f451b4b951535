#include "base/float32.hpp"

#include <gtest/gtest.h>

#include <limits>

namespace backplane {
namespace {

TEST(Float32, IsTheDoubleOfItsShortestDecimal) {
  EXPECT_EQ(0.892, AsWritten(0.892F));
  EXPECT_EQ(-1e-7, AsWritten(-1e-7F));
  EXPECT_EQ(3e38, AsWritten(3e38F));
  EXPECT_EQ(0.0, AsWritten(0.0F));
}

TEST(Float32, IsStillTheSameFloat32) {
  for (const float value :
       {0.1F, 1.0F / 3, 16777216.0F, std::numeric_limits<float>::denorm_min(), std::numeric_limits<float>::max()})
    EXPECT_EQ(value, static_cast<float>(AsWritten(value)));
}

TEST(Float32, KeepsValuesThatAreNotFinite) {
  EXPECT_TRUE(std::isnan(AsWritten(std::numeric_limits<float>::quiet_NaN())));
  EXPECT_EQ(-std::numeric_limits<double>::infinity(), AsWritten(-std::numeric_limits<float>::infinity()));
}

}  // namespace
}  // namespace backplane
