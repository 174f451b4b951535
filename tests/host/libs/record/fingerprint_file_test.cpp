#include "record/fingerprint_file.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <fstream>

#include "base/hash64.hpp"

namespace backplane {
namespace {

const FingerprintColumns kTwo = {{kActed, "action"}, {kLearned, "w"}}, kOne = {{kLearned, "w"}};

class AFingerprintFile : public testing::Test {
 protected:
  FingerprintFile Read(const std::string& bytes) {
    std::ofstream(file_, std::ios::binary) << bytes;
    return ReadFingerprints(file_).value();
  }
  const std::filesystem::path file_ = std::filesystem::path(testing::TempDir()) /
                                      ("backplane-fingerprints-" + std::to_string(getpid()) + ".bin");  // tests run in parallel
};

std::vector<uint64_t> IterationsOf(const Fingerprints& fingerprints) {
  std::vector<uint64_t> out;
  for (const auto& [iteration, _] : fingerprints.iterations) out.push_back(iteration);
  return out;
}

// xxHash's own test vector: no bytes, seed 0.
TEST(Hash64, EqualsXxHashForAnyChunks) {
  EXPECT_EQ(Hash64Of("", 0), 0x2D06800538D394C2u);
  const std::string text(1000, 'x');
  Hash64 hash;
  for (size_t at = 0; at < text.size(); at += 40) hash.Add(text.data() + at, 40);
  EXPECT_EQ(hash.Value(), Hash64Of(text.data(), text.size()));
}

TEST_F(AFingerprintFile, IsReadAsItWasWritten) {
  const std::string bytes =
      TableEntry(kTwo) + RecordEntry(1, {10, 11}) + RecordEntry(2, {20, 21}) + TableEntry(kOne) + RecordEntry(3, {31});
  const FingerprintFile read = Read(bytes);
  EXPECT_EQ(read.whole_bytes, bytes.size());
  EXPECT_FALSE(read.problem);
  EXPECT_EQ(IterationsOf(read), (std::vector<uint64_t>{1, 2, 3}));
  EXPECT_EQ(read.iterations.at(2).hashes, (std::vector<uint64_t>{20, 21}));
  EXPECT_EQ(*read.iterations.at(2).columns, kTwo);
  EXPECT_EQ(*read.iterations.at(3).columns, kOne);
}

TEST_F(AFingerprintFile, EndsWithItsLastWholeEntry) {
  const std::string whole = TableEntry(kTwo) + RecordEntry(1, {10, 11}), next = RecordEntry(2, {20, 21});
  for (size_t n = 0; n < next.size(); ++n) {
    const FingerprintFile read = Read(whole + next.substr(0, n));
    EXPECT_EQ(read.whole_bytes, whole.size()) << n;
    EXPECT_FALSE(read.problem) << n;
    EXPECT_EQ(IterationsOf(read), std::vector<uint64_t>{1}) << n;
  }
  for (size_t n = 0; n < TableEntry(kTwo).size(); ++n) EXPECT_EQ(Read(whole.substr(0, n)).whole_bytes, 0u) << n;
}

TEST_F(AFingerprintFile, EndsBeforeAChangedBit) {
  const std::string table = TableEntry(kTwo), bytes = table + RecordEntry(1, {10, 11}) + RecordEntry(2, {20, 21});
  for (size_t at = table.size(); at < bytes.size(); ++at) {
    std::string damaged = bytes;
    damaged[at] = static_cast<char>(damaged[at] ^ 4);
    EXPECT_LT(IterationsOf(Read(damaged)).size(), 2u) << at;
  }
  EXPECT_THAT(Read("no fingerprints").problem.value(), testing::HasSubstr("is not a file of fingerprints"));
}

TEST_F(AFingerprintFile, LaterRecordReplacesTheEarlierOneAndItsSuccessors) {
  const FingerprintFile read = Read(TableEntry(kOne) + RecordEntry(1, {1}) + RecordEntry(2, {2}) + RecordEntry(3, {3}) +
                                    TableEntry(kOne) + RecordEntry(2, {22}));
  EXPECT_EQ(IterationsOf(read), (std::vector<uint64_t>{1, 2}));
  EXPECT_EQ(read.iterations.at(2).hashes, std::vector<uint64_t>{22});
}

TEST_F(AFingerprintFile, ContinuesTheFilesOfEarlierAttempts) {
  Fingerprints first, second;
  const auto columns = std::make_shared<const FingerprintColumns>(kOne);
  for (uint64_t i = 1; i <= 5; ++i) first.Add(i, {columns, {i}});
  for (uint64_t i = 4; i <= 6; ++i) second.Add(i, {columns, {10 * i}});
  first.Continue(second);
  EXPECT_EQ(IterationsOf(first), (std::vector<uint64_t>{1, 2, 3, 4, 5, 6}));
  EXPECT_EQ(first.iterations.at(3).hashes[0], 3u);
  EXPECT_EQ(first.iterations.at(4).hashes[0], 40u);
  first.Continue({});
  EXPECT_EQ(first.iterations.size(), 6u) << "an empty attempt removes no record";
}

}  // namespace
}  // namespace backplane
