#include "base/pipe.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <csignal>
#include <string>
#include <thread>

#include "base/child.hpp"
#include "base/line_peer.hpp"

namespace backplane {
namespace {

using testing::Optional;

TEST(Pipe, EndsWhenTheWriterIsClosed) {
  Pipe pipe;
  std::string text;
  EXPECT_TRUE(pipe.TakeInto(&text)) << "no data yet, but still open";
  EXPECT_EQ(3u, WriteWhole(pipe.writer(), "abc"));
  EXPECT_TRUE(pipe.TakeInto(&text));
  pipe.CloseWriter();
  EXPECT_FALSE(pipe.TakeInto(&text));
  EXPECT_EQ("abc", text);
  EXPECT_EQ(-1, pipe.reader());
}

TEST(Pipe, TakesNoMoreThanItsBlocks) {
  Pipe pipe(Pipe::Read::kReturns, 1 << 20);
  ASSERT_EQ(3 * Pipe::kBlockBytes, WriteWhole(pipe.writer(), std::string(3 * Pipe::kBlockBytes, 'x')));
  std::string text;
  EXPECT_TRUE(pipe.TakeInto(&text, 2));
  EXPECT_EQ(2 * Pipe::kBlockBytes, text.size());
}

TEST(WriteWhole, WritesMoreThanAPipeHolds) {
  Pipe pipe(Pipe::Read::kWaits);
  const std::string sent(1 << 20, 'x');
  std::thread writer([&] {
    EXPECT_EQ(sent.size(), WriteWhole(pipe.writer(), sent));
    pipe.CloseWriter();
  });
  std::string text;
  pipe.TakeInto(&text);
  writer.join();
  EXPECT_EQ(sent, text);
}

TEST(WriteWhole, ReturnsTheBytesThatFit) {
  std::signal(SIGPIPE, SIG_IGN);
  Pipe pipe;
  pipe.CloseReader();
  EXPECT_EQ(0u, WriteWhole(pipe.writer(), "abc"));
  EXPECT_EQ(EPIPE, errno);
}

// The other side of a peer, in this process.
void Reply(const LinePeer& peer, const std::string& text) { EXPECT_EQ(text.size(), WriteWhole(peer.theirs(), text)); }

TEST(LinePeer, SplitsBytesIntoLines) {
  LinePeer peer;
  EXPECT_EQ(LinePeer::Heard::kNothing, peer.Listen(0));
  Reply(peer, "one\ntwo\nthr");
  EXPECT_EQ(LinePeer::Heard::kSome, peer.Listen(1000));
  EXPECT_THAT(peer.Next(), Optional(std::string("one")));
  EXPECT_THAT(peer.Next(), Optional(std::string("two")));
  EXPECT_FALSE(peer.Next());
  EXPECT_EQ("thr", peer.unread());
  Reply(peer, "ee\n");
  EXPECT_EQ(LinePeer::Heard::kSome, peer.Listen(1000));
  EXPECT_THAT(peer.Next(), Optional(std::string("three")));
  peer.CloseTheirs();
  EXPECT_EQ(LinePeer::Heard::kEnd, peer.Listen(1000));
  EXPECT_FALSE(peer.Send("x\n")) << "and no SIGPIPE";
}

TEST(LinePeer, SendsLaterWhatDoesNotFit) {
  LinePeer peer;
  const std::string sent(4 << 20, 'x');
  EXPECT_TRUE(peer.Send(sent)) << "returns although the other side does not read";
  size_t read_bytes = 0;
  char block[65536];
  while (read_bytes < sent.size()) {
    const ssize_t n = recv(peer.theirs(), block, sizeof block, MSG_DONTWAIT);
    if (n > 0) read_bytes += static_cast<size_t>(n);
    ASSERT_NE(LinePeer::Heard::kEnd, peer.Listen(0));
  }
  peer.EndInput();
  EXPECT_EQ(0, recv(peer.theirs(), block, sizeof block, 0));
}

TEST(Child, ThrowsProgramErrorForAFileThatIsNotAProgram) {
  ChildCommand command;
  command.program = "/etc/hostname";
  EXPECT_THROW(Child{command}, ProgramError);
}

}  // namespace
}  // namespace backplane
