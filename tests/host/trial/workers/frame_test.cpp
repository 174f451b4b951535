#include "workers/frame.hpp"

#include <gmock/gmock.h>

#include "workers/messages.hpp"

namespace backplane {
namespace {

using testing::HasSubstr;

std::vector<std::byte> SomeBody(size_t size) {
  std::vector<std::byte> body(size);
  for (size_t i = 0; i < size; ++i) body[i] = static_cast<std::byte>(i * 7);
  return body;
}

std::string ErrorOf(std::vector<std::byte> bytes) {
  FrameReader reader;
  reader.Add(bytes.data(), bytes.size());
  try {
    while (reader.Next()) continue;
  } catch (const FrameError& e) {
    return e.what();
  }
  return "";
}

TEST(Frame, SurvivesAnyCutOfTheStream) {
  std::vector<std::byte> stream;
  for (const size_t size : {0, 1, 1000}) {
    const std::vector<std::byte> bytes = BytesOf({FrameKind::kTurn, SomeBody(size)});
    stream.insert(stream.end(), bytes.begin(), bytes.end());
  }
  for (const size_t piece : {1, 7, 24, 5000}) {
    FrameReader reader;
    std::vector<size_t> sizes;
    for (size_t at = 0; at < stream.size(); at += piece) {
      reader.Add(stream.data() + at, std::min(piece, stream.size() - at));
      while (const std::optional<Frame> frame = reader.Next()) {
        EXPECT_EQ(frame->kind, FrameKind::kTurn);
        EXPECT_EQ(frame->body, SomeBody(frame->body.size()));
        sizes.push_back(frame->body.size());
      }
    }
    EXPECT_THAT(sizes, testing::ElementsAre(0, 1, 1000)) << "pieces of " << piece;
  }
}

TEST(Frame, DetectsAChangedByte) {
  const std::vector<std::byte> whole = BytesOf({FrameKind::kJobs, SomeBody(40)});
  for (size_t i = 0; i < whole.size(); ++i) {
    std::vector<std::byte> changed = whole;
    changed[i] ^= std::byte{1};
    const bool of_the_size = i >= 8 && i < 16;  // a larger size: the rest has not arrived
    if (of_the_size && ErrorOf(changed).empty()) continue;
    EXPECT_NE(ErrorOf(changed), "") << "byte " << i;
  }
  EXPECT_EQ(ErrorOf(whole), "");
}

TEST(Frame, RejectsAHugeSizeBeforeReadingIt) {
  std::vector<std::byte> bytes = BytesOf({FrameKind::kJobs, SomeBody(8)});
  bytes[14] = std::byte{1};  // 2^48 bytes
  EXPECT_THAT(ErrorOf(bytes), HasSubstr("expected a frame of at most 4294967296 bytes, got 281474976710664"));
}

TEST(Frame, ReadsMessagesBackUnchanged) {
  const Score sent{3, 17, {1.5, 12, {0.25, -0.0}, {4, 1, 2, 3}, 48}};
  FrameReader reader;
  const std::vector<std::byte> bytes = ToBytes(sent);
  reader.Add(bytes.data(), bytes.size());
  const Score read = MessageOf<Score>(reader.Next().value());
  EXPECT_EQ(read.turn, 3u);
  EXPECT_EQ(read.job, 17u);
  EXPECT_EQ(read.score.fitness, 1.5);
  EXPECT_EQ(read.score.length, 12);
  EXPECT_EQ(read.score.own_length, 48);
  EXPECT_EQ(read.score.infos, sent.score.infos);
  EXPECT_TRUE(std::signbit(read.score.infos[1]));
  EXPECT_EQ(read.score.moments, sent.score.moments);
}

TEST(Frame, RejectsMessagesOfTheWrongLength) {
  FrameReader reader;
  const std::vector<std::byte> bytes = ToBytes(JobList{{1, 2, 3}});
  reader.Add(bytes.data(), bytes.size());
  const Frame whole = reader.Next().value();
  for (const int more : {-8, -1, 1}) {
    Frame frame = whole;
    frame.body.resize(whole.body.size() + static_cast<size_t>(more));
    EXPECT_THROW(MessageOf<JobList>(frame), FrameError) << more;
  }
  EXPECT_EQ(MessageOf<JobList>(whole).jobs.size(), 3u);
}

}  // namespace
}  // namespace backplane
