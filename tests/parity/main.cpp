// The main function of the programs that compare with an oracle.
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>

#include "oracle.hpp"

namespace {
std::unique_ptr<backplane::parity::Oracle> g_oracle;
}

backplane::parity::Oracle& backplane::parity::TheOracle() {
  if (!g_oracle) g_oracle = std::make_unique<Oracle>();
  return *g_oracle;
}

// 0: all passed. 1: one failed. 77: there was nothing to compare, which CTest shows as skipped.
int main(int argc, char** argv) {
  using backplane::parity::Oracle;
  constexpr int kSkipped = 77;
  testing::InitGoogleTest(&argc, argv);
  if (!Oracle::Installed()) {
    const char* ci = std::getenv("CI");
    std::printf("%s\n", Oracle::HowToInstall());
    return ci && std::string(ci) == "true" ? 1 : kSkipped;
  }
  const int result = RUN_ALL_TESTS();
  g_oracle.reset();
  const testing::UnitTest& all = *testing::UnitTest::GetInstance();
  return result == 0 && all.successful_test_count() == 0 && all.skipped_test_count() > 0 ? kSkipped : result;
}
