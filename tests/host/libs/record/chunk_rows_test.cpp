#include "record/chunk_rows.hpp"

#include <gtest/gtest.h>

namespace backplane {
namespace {

TEST(ChunkRows, AreWholeChunksOfTheGridForEveryThread) {
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(1024), 1024), 256u);
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(64), 64), 64u);
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(64), 40), 32u);
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(64), 8), 16u) << "at least the grid";
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(8), 1024), 256u);
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(5), 1024), 255u);
  EXPECT_EQ(ManyRowsOfACall(AutoChunkRows(1), 0), 1u);
}

}  // namespace
}  // namespace backplane
