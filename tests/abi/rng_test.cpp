#include "backplane/rng.h"

#include <gmock/gmock.h>

#include <array>

namespace {

using Words = std::array<uint32_t, 4>;

Words Philox(Words counter, std::array<uint32_t, 2> key) {
  Words out{};
  bp_philox4x32(counter.data(), key.data(), out.data());
  return out;
}

// Values from Random123's kat_vectors.
TEST(Philox, GivesTheKnownAnswers) {
  constexpr uint32_t kOnes = 0xffffffff;
  EXPECT_EQ(Philox({0, 0, 0, 0}, {0, 0}), (Words{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  EXPECT_EQ(Philox({kOnes, kOnes, kOnes, kOnes}, {kOnes, kOnes}), (Words{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  EXPECT_EQ(Philox({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}),
            (Words{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

TEST(Seed, IsGolden) {
  EXPECT_EQ(bp_seed(0, 0, 0, 0), 0xe169c58d6627e8d5u);
  EXPECT_EQ(bp_seed(1, 1, 0, 0), 0x1e047488127bee41u);
  EXPECT_EQ(bp_seed(1, 1, 3, 7), 0x3a80da7c2547620du);
  EXPECT_EQ(bp_seed(42, 1, 5, 2), 0x54237af2262432bcu);
}

}  // namespace
