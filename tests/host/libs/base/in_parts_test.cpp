// Items that several threads share.
#include "base/in_parts.hpp"

#include <gmock/gmock.h>

#include <atomic>
#include <stdexcept>

namespace backplane {
namespace {

TEST(InParts, CoversEachItemOnce) {
  for (const size_t n : {size_t{0}, size_t{1}, size_t{7}, size_t{1000}}) {
    std::vector<int> visits(n);
    InParts(n, 1, [&](size_t begin, size_t end) {
      for (size_t i = begin; i < end; ++i) ++visits[i];
    });
    EXPECT_THAT(visits, testing::Each(1)) << n;
  }
}

TEST(InParts, FewItemsStayInTheCallersThread) {
  std::vector<std::thread::id> threads;
  InParts(5, 3, [&](size_t, size_t) { threads.push_back(std::this_thread::get_id()); });
  EXPECT_THAT(threads, testing::ElementsAre(std::this_thread::get_id()));
}

TEST(InParts, RethrowsAfterAllPartsHaveEnded) {
  std::atomic<size_t> done = 0;
  const auto part = [&](size_t begin, size_t end) {
    done += end - begin;
    if (begin == 0) throw std::runtime_error("first part");
  };
  EXPECT_THAT([&] { InParts(100, 1, part); }, testing::ThrowsMessage<std::runtime_error>("first part"));
  EXPECT_EQ(done, 100u);
}

}  // namespace
}  // namespace backplane
