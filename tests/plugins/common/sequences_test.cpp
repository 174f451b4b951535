// Packed sequences: each sample once, in the order of time, without padding.
#include "on_policy/sequences.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace backplane::on_policy {
namespace {

using ::testing::ElementsAre;

// Three sequences of samples 10, 11, 12, then 20, then 30, 31; sample 12 has a state of 0 before it.
SequenceSet Three() {
  SequenceSet set;
  set.Clear(3);
  for (const std::vector<int64_t>& samples : {std::vector<int64_t>{10, 11, 12}, {20}, {30, 31}}) {
    set.samples.insert(set.samples.end(), samples.begin(), samples.end());
    set.End();
  }
  set.fresh.assign(40, 0);
  set.fresh[12] = 1;
  return set;
}

TEST(SequenceBlocks, PacksEntriesOfLongerSequencesFirst) {
  SequenceBlocks blocks;
  blocks.Pack(Three(), std::vector<int64_t>{1, 2, 0});
  const std::vector<int64_t> index(blocks.index(), blocks.index() + blocks.n());
  EXPECT_THAT(index, ElementsAre(10, 30, 20, 11, 31, 12));
  int seen = 0;
  blocks.ForEach(0, blocks.n(), [&](const SequenceBlocks::Block& block) {
    ++seen;
    EXPECT_EQ(block.begin, 0);
    EXPECT_EQ(block.rows, 6);
    EXPECT_THAT(block.sequences.entries, ElementsAre(3, 2, 1));
    EXPECT_THAT(std::vector<int64_t>(block.first_rows, block.first_rows + 3), ElementsAre(0, 2, 1));
    EXPECT_THAT(std::vector<int>(block.sequences.fresh, block.sequences.fresh + 6), ElementsAre(0, 0, 0, 0, 0, 1));
  });
  EXPECT_EQ(seen, 1);
}

TEST(SequenceBlocks, CoversEverySampleOnceInAnyParts) {
  SequenceSet set;
  set.Clear(40);
  for (int64_t sequence = 0; sequence < 50; ++sequence) {
    for (int64_t t = 0; t < 1 + sequence % 40; ++t) set.samples.push_back(static_cast<int64_t>(set.samples.size()));
    set.End();
  }
  set.fresh.assign(set.samples.size(), 0);
  std::vector<int64_t> numbers;
  for (int64_t i = 0; i < 50; ++i) numbers.push_back(i * 7 % 50);
  SequenceBlocks blocks;
  blocks.Pack(set, numbers);
  ASSERT_EQ(blocks.n(), static_cast<int64_t>(set.samples.size()));
  std::vector<int64_t> index(blocks.index(), blocks.index() + blocks.n());
  std::ranges::sort(index);
  EXPECT_EQ(index, set.samples);
  for (const int64_t parts : {1, 3, 7}) {
    int64_t rows = 0, last = 0;
    for (int64_t part = 0; part < parts; ++part) {
      blocks.ForEach(blocks.n() * part / parts, blocks.n() * (part + 1) / parts, [&](const SequenceBlocks::Block& block) {
        EXPECT_EQ(block.begin, last) << "blocks follow each other";
        rows += block.rows, last = block.begin + block.rows;
        EXPECT_LE(block.rows, blocks.most_rows());
      });
    }
    EXPECT_EQ(rows, blocks.n()) << parts;
  }
}

}  // namespace
}  // namespace backplane::on_policy
