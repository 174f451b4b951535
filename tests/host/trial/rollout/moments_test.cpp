#include "rollout/moments.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(Moments, MergingEqualsOnePass) {
  const float data[] = {1, 2, 3, 4, 6};
  Moments all, left, right;
  for (Moments* m : {&all, &left, &right}) m->Reset(1);
  for (const float& x : data) all.Add(&x);
  for (int i = 0; i < 3; ++i) left.Add(&data[i]);
  for (int i = 3; i < 5; ++i) right.Add(&data[i]);
  left.Merge(right);
  EXPECT_DOUBLE_EQ(left.mean[0], 3.2);
  EXPECT_DOUBLE_EQ(left.mean[0], all.mean[0]);
  EXPECT_NEAR(left.m2[0], 14.8, 1e-12);
  EXPECT_NEAR(all.m2[0], 14.8, 1e-12);
}

TEST(Moments, MergingNothingChangesNothing) {
  Moments a, empty;
  a.Reset(1);
  empty.Reset(1);
  const float x = 5;
  a.Add(&x);
  a.Merge(empty);
  EXPECT_EQ(a.count, 1);
  EXPECT_EQ(a.mean[0], 5);
}

}  // namespace
}  // namespace backplane
