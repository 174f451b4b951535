#include "workers/listener.hpp"

#include <gmock/gmock.h>
#include <unistd.h>

#include <stdexcept>

#include "workers/messages.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

void SayHelloTo(int fd, const std::string& token, uint64_t number) {
  SendAll(fd, ToBytes(Hello{.token = token, .trial_id = "t1", .number = number}));
}

// The wait covers handing over a connection on a busy machine.
std::optional<WorkerListener::Caller> CallerOf(WorkerListener& listener) { return listener.Await(10'000); }

TEST(WorkerListener, AcceptsWorkersByTokenAndLeavesTheirHelloUnread) {
  WorkerListener listener("127.0.0.1", "secret");
  EXPECT_THAT(listener.at(), testing::StartsWith("127.0.0.1:"));
  const int worker = CallTrial(listener.at());
  SayHelloTo(worker, "secret", 3);
  const auto caller = CallerOf(listener);
  ASSERT_TRUE(caller);
  EXPECT_EQ(caller->number, 3u);
  FrameReader reader;
  ASSERT_EQ(ReceiveInto(caller->fd, true, &reader), Received::kSome);
  EXPECT_EQ(MessageOf<Hello>(reader.Next().value()).number, 3u);
  close(worker);
  EXPECT_EQ(ReceiveInto(caller->fd, true, &reader), Received::kEnd);
  close(caller->fd);
}

TEST(WorkerListener, HangsUpOnAnybodyElse) {
  WorkerListener listener("127.0.0.1", "secret");
  const int guesses = CallTrial(listener.at());
  SayHelloTo(guesses, "Secret", 1);
  EXPECT_FALSE(CallerOf(listener));
  const int scans = CallTrial(listener.at());
  const std::string request = "GET / HTTP/1.0\r\nHost: here.example\r\n\r\n";
  const auto* bytes = reinterpret_cast<const std::byte*>(request.data());
  SendAll(scans, {bytes, bytes + request.size()});
  EXPECT_FALSE(CallerOf(listener));
  char byte = 0;
  EXPECT_LE(read(guesses, &byte, 1), 0);
  EXPECT_LE(read(scans, &byte, 1), 0);
  close(guesses), close(scans);
}

TEST(WorkerListener, ReportsAnAddressWithoutAListener) {
  try {
    CallTrial("127.0.0.1:1");
    ADD_FAILURE() << "expected an error";
  } catch (const std::runtime_error& e) {
    EXPECT_THAT(e.what(), HasSubstr("cannot reach the trial at 127.0.0.1:1: "));
  }
  EXPECT_THROW(CallTrial("nowhere"), std::runtime_error);
}

}  // namespace
}  // namespace backplane
