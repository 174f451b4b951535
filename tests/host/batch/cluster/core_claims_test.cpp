#include "cluster/core_claims.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <string>

namespace backplane {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

class CoreClaimsTest : public testing::Test {
 protected:
  ~CoreClaimsTest() override { std::filesystem::remove_all(folder_); }

  const std::filesystem::path folder_ =
      std::filesystem::path(testing::TempDir()) / ("core_claims_test_" + std::to_string(getpid()));
};

TEST_F(CoreClaimsTest, WorkersOfAMachineGetDistinctCores) {
  const CoreClaims first({4, 5, 6, 7, 8}, 2, folder_), second({4, 5, 6, 7, 8}, 2, folder_);
  EXPECT_THAT(first.cores(), ElementsAre(4, 5));
  EXPECT_THAT(second.cores(), ElementsAre(6, 7));
  const CoreClaims third({4, 5, 6, 7, 8}, 2, folder_);
  EXPECT_THAT(third.cores(), IsEmpty()) << "one core is left, and claims are all or nothing";
  const CoreClaims fourth({4, 5, 6, 7, 8}, 1, folder_);
  EXPECT_THAT(fourth.cores(), ElementsAre(8)) << "the third has released it";
}

TEST_F(CoreClaimsTest, FollowNoLinksThatOthersMade) {
  const std::filesystem::path victim = folder_.string() + "_victim";
  std::filesystem::create_directory_symlink(std::filesystem::temp_directory_path(), folder_);
  EXPECT_THAT(CoreClaims({0, 1}, 1, folder_).cores(), IsEmpty());
  std::filesystem::remove(folder_);
  std::filesystem::create_directory(folder_);
  std::filesystem::create_symlink(victim, folder_ / "0");
  EXPECT_THAT(CoreClaims({0, 1}, 1, folder_).cores(), ElementsAre(1));
  EXPECT_FALSE(std::filesystem::exists(victim));
}

TEST_F(CoreClaimsTest, AreFreeWhenTheirWorkerHasEnded) {
  { const CoreClaims first({0, 1}, 1, folder_); }
  const CoreClaims second({0, 1}, 1, folder_);
  EXPECT_THAT(second.cores(), ElementsAre(0));
}

TEST_F(CoreClaimsTest, CoresGrantedByTheClusterNeedNoClaim) {
  const CoreClaims first({2, 3}, 2, folder_), second({2, 3}, 2, folder_);
  EXPECT_THAT(first.cores(), ElementsAre(2, 3));
  EXPECT_THAT(second.cores(), ElementsAre(2, 3)) << "cores outside the affinity need no claim";
  EXPECT_FALSE(std::filesystem::exists(folder_));
}

}  // namespace
}  // namespace backplane
