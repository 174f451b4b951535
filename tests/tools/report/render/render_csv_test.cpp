#include <gtest/gtest.h>

#include "render/document.hpp"
#include "sample_document.hpp"

namespace backplane {
namespace {

TEST(RenderCsv, WritesValuesWithTheirUncertainty) {
  EXPECT_EQ(
      "setting,sps,sps_low,sps_high,sps_sd,sps_n,memory,why\n"
      "1 x 1,1000,980,1020,10,3,300.26,\n"
      "2 x 1,1950,1918.5,1981.5,15.75,3,NaN,\n"
      "4 | 1,,,,,,,\"FAILED (oom), \"\"killed\"\"\"\n",
      RenderCsv(std::get<Table>(SmallDocument().sections[0].blocks[0])));
}

TEST(RenderCsv, SeriesOfSamplesHaveTheirPeaks) {
  Table table;
  table.columns = {{.key = "cpu, %"}};
  table.rows = {{Number{.value = 50, .n = 10, .of = "samples", .max = 90, .p95 = 85.5}}, {}};
  EXPECT_EQ("\"cpu, %\",\"cpu, %_p95\",\"cpu, %_max\",\"cpu, %_n\"\n50,85.5,90,10\n,,,\n", RenderCsv(table));
}

}  // namespace
}  // namespace backplane
