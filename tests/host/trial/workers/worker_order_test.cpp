#include "workers/worker_order.hpp"

#include <gmock/gmock.h>

namespace backplane {
namespace {

using testing::HasSubstr;

std::string RefusalOf(const std::vector<std::string>& arguments) {
  try {
    WorkerOrderFromArguments(arguments);
  } catch (const std::runtime_error& e) {
    return e.what();
  }
  return "";
}

TEST(WorkerOrder, IsReadBackFromItsArguments) {
  WorkerOrder order;
  order.trial_json = "/a folder/trial.json";
  order.number = 3, order.threads = 2, order.fd = 7, order.memory_fd = 9;
  std::vector<std::string> arguments = ToArguments(order);
  ASSERT_EQ(arguments.front(), "play");
  arguments.erase(arguments.begin());
  const WorkerOrder read = WorkerOrderFromArguments(arguments);
  EXPECT_EQ(read.trial_json, order.trial_json);
  EXPECT_EQ(read.number, 3u);
  EXPECT_EQ(read.threads, 2u);
  EXPECT_EQ(read.fd, 7);
  EXPECT_EQ(read.memory_fd, 9);
}

TEST(WorkerOrder, RejectsInvalidArguments) {
  EXPECT_THAT(RefusalOf({"--fd", "3"}), HasSubstr("expected a trial.json, got none"));
  EXPECT_THAT(RefusalOf({"t.json"}), HasSubstr("expected --fd or --connect, got neither"));
  EXPECT_THAT(RefusalOf({"t.json", "--fd", "3", "--connect", "a:1"}), HasSubstr("got both"));
  EXPECT_THAT(RefusalOf({"t.json", "--fd", "3", "--memory", "-1"}), HasSubstr("--memory: expected a number"));
  EXPECT_THAT(RefusalOf({"t.json", "--fd", "3x"}), HasSubstr("--fd: expected a number up to 2147483647, got \"3x\""));
  EXPECT_THAT(RefusalOf({"t.json", "--fd"}), HasSubstr("expected a value, got none"));
  EXPECT_THAT(RefusalOf({"t.json", "--far", "3"}), HasSubstr("unknown argument --far"));
}

}  // namespace
}  // namespace backplane
