// Files of a learner: claims, growth, checksums, and the checkpoints that they need in time.
#include "rollout/learner_files.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstring>
#include <fstream>
#include <utility>
#include <vector>

#include "file_host.hpp"
#include "file_size_limit.hpp"
#include "rollout/failure.hpp"

namespace backplane {
namespace {

namespace fs = std::filesystem;
using testing::AllOf;
using testing::HasSubstr;

constexpr uint64_t kBlock = BP_FILE_BLOCK;

class Instance : public FileHost {
 public:
  using FileHost::FileHost;
  bp_status Open(const char* name, uint64_t max, uint64_t iteration, uint64_t slack, bp_file** file) {
    const bp_file_claim claim = {sizeof claim, 0, max, iteration, slack};
    return api().open(get(), name, &claim, file);
  }
  bp_file* Opened(uint64_t max = 8 * kBlock, uint64_t iteration = kBlock, uint64_t slack = 5 * kBlock) {
    bp_file* file = nullptr;
    EXPECT_EQ(Open("ring", max, iteration, slack, &file), BP_OK) << Error();
    return file;
  }
};

class Files : public testing::Test {
 protected:
  Files() : dir_(fs::path(testing::TempDir()) / ("files_" + std::to_string(getpid()))) {
    fs::remove_all(dir_);
    fs::create_directories(dir_);
  }
  ~Files() override { fs::remove_all(dir_); }

  // Writes n bytes of this value.
  static void Fill(Instance* of, bp_file* file, uint64_t offset, uint64_t n, int value) {
    ASSERT_EQ(of->api().grow(file, offset + n), BP_OK) << of->Error();
    std::memset(file->data + offset, value, n);
    ASSERT_EQ(of->api().written(file, offset, n), BP_OK) << of->Error();
  }
  fs::path ring() const { return dir_ / "ring.data"; }
  // Changes a bit of the file, as a bad disk does.
  void Flip(uint64_t offset) const {
    std::fstream file(ring(), std::ios::in | std::ios::out | std::ios::binary);
    file.seekg(static_cast<std::streamoff>(offset));
    const int byte = file.get();
    file.seekp(static_cast<std::streamoff>(offset));
    file.put(static_cast<char>(byte ^ 4));
  }

  const fs::path dir_;
};

TEST_F(Files, RejectsBadNamesAndClaims) {
  Instance one(dir_);
  bp_file* file = nullptr;
  for (const char* name : {"", "a b", "../up", "a.b", "a23456789012345678901234567890123"}) {
    EXPECT_EQ(one.Open(name, kBlock, 0, 2 * kBlock, &file), BP_E_INVALID_ARG) << name;
    EXPECT_THAT(one.Error(), HasSubstr("expected a name of 1 to 32 letters"));
  }
  EXPECT_EQ(one.Open("ring", 0, 0, 2 * kBlock, &file), BP_E_INVALID_ARG);
  EXPECT_EQ(one.Open("ring", kBlock, ~uint64_t{0} / 3, ~uint64_t{0}, &file), BP_E_INVALID_ARG) << "the product overflows";
  EXPECT_EQ(one.Open("ring", kBlock, 10, 30 + 2 * kBlock - 1, &file), BP_E_INVALID_ARG);
  EXPECT_THAT(one.Error(), AllOf(HasSubstr("expected at least"), HasSubstr("2097182"), HasSubstr("got 2097181")));
  EXPECT_EQ(one.Open("ring", kBlock, 10, 30 + 2 * kBlock, &file), BP_OK);
  EXPECT_EQ(one.Open("ring", kBlock, 10, 30 + 2 * kBlock, &file), BP_E_INVALID_ARG) << "twice";
}

TEST_F(Files, GrowsWithoutMoving) {
  Instance one(dir_);
  bp_file* const file = one.Opened(5 * kBlock / 2);
  const uint8_t* const data = file->data;
  EXPECT_EQ(file->bytes, 0u);
  ASSERT_EQ(one.api().grow(file, 1), BP_OK);
  EXPECT_EQ(file->bytes, kBlock);
  ASSERT_EQ(one.api().grow(file, 2 * kBlock + 1), BP_OK);
  EXPECT_EQ(file->bytes, 5 * kBlock / 2) << "not beyond max_bytes";
  EXPECT_EQ(file->data, data);
  EXPECT_EQ(file->data[5 * kBlock / 2 - 1], 0);
  struct stat status {};
  ASSERT_EQ(stat(ring().c_str(), &status), 0);
  EXPECT_GE(static_cast<uint64_t>(status.st_blocks) * 512, 5 * kBlock / 2) << "blocks are allocated, so a write cannot fail";
  EXPECT_EQ(one.api().grow(file, 3 * kBlock), BP_E_INVALID_ARG);
  EXPECT_EQ(file->bytes, 5 * kBlock / 2);
}

TEST_F(Files, FullDiskIsAnErrorOfGrow) {
  Instance one(dir_);
  bp_file* const file = one.Opened();
  Fill(&one, file, 0, 100, 7);
  {
    const FileSizeLimit limit(2 * kBlock);
    EXPECT_EQ(one.api().grow(file, 3 * kBlock), BP_E_IO);
  }
  EXPECT_THAT(one.Error(), AllOf(HasSubstr("cannot grow " + ring().string()), HasSubstr("File too large")));
  EXPECT_EQ(file->bytes, kBlock);
  EXPECT_EQ(fs::file_size(ring()), kBlock);
  EXPECT_EQ(file->data[99], 7);
  EXPECT_EQ(one.api().grow(file, 3 * kBlock), BP_OK) << "with space again";
}

TEST_F(Files, WriteContinuesOrStartsABlock) {
  Instance one("");
  bp_file* const file = one.Opened();
  Fill(&one, file, 0, 10, 1);
  EXPECT_EQ(one.api().written(file, 11, 1), BP_E_INVALID_ARG);
  EXPECT_THAT(one.Error(), HasSubstr("expected offset 0 or 10 within block 0, got 11"));
  EXPECT_EQ(one.api().written(file, 9, 1), BP_E_INVALID_ARG);
  Fill(&one, file, 10, 2 * kBlock, 2);  // to the middle of block 2
  Fill(&one, file, 0, 5, 3);
  EXPECT_EQ(one.api().written(file, 10, 1), BP_E_INVALID_ARG) << "the block has started again";
  EXPECT_EQ(one.api().written(file, 8 * kBlock, 1), BP_E_INVALID_ARG) << "beyond the file";
  EXPECT_EQ(one.api().written(file, 5, ~uint64_t{0}), BP_E_INVALID_ARG);
}

TEST_F(Files, NeedRejectsBytesThatWereNotWritten) {
  Instance one("");
  bp_file* const file = one.Opened();
  Fill(&one, file, 0, kBlock + 10, 1);
  EXPECT_EQ(one.api().need(file, 0, kBlock + 10), BP_OK);
  EXPECT_EQ(one.api().need(file, kBlock, 11), BP_E_INVALID_ARG);
  EXPECT_EQ(one.api().need(file, 3 * kBlock, 0), BP_E_INVALID_ARG) << "beyond the file";
}

TEST_F(Files, ComeBackAsTheCheckpointDescribesThem) {
  std::vector<std::byte> part;
  {
    Instance one(dir_);
    bp_file* const file = one.Opened();
    one.files().StartEmpty();
    Fill(&one, file, 0, 2 * kBlock + 100, 1);
    part = one.files().Save();
    EXPECT_LE(part.size(), 200u);
    Fill(&one, file, 2 * kBlock + 100, 2 * kBlock, 9);  // after the checkpoint
  }
  Instance again(dir_);
  bp_file* const file = again.Opened();
  EXPECT_EQ(file->bytes, 0u) << "before the checkpoint is known";
  again.files().Restore(part);
  EXPECT_EQ(file->bytes, 3 * kBlock);
  EXPECT_EQ(again.files().Save(), part);
  ASSERT_EQ(again.api().need(file, 2 * kBlock + 50, 50), BP_OK) << again.Error();
  EXPECT_EQ(file->data[2 * kBlock + 99], 1);
  EXPECT_EQ(again.api().need(file, 2 * kBlock + 50, 51), BP_E_INVALID_ARG) << "written after the checkpoint";
  Fill(&again, file, 2 * kBlock + 100, kBlock, 1);
  ASSERT_EQ(again.api().need(file, 0, 3 * kBlock + 100), BP_OK) << again.Error();
  EXPECT_EQ(again.files().Now(), LearnerFiles::Mark{3 * kBlock + 100});
  // The same bytes in one attempt have the same checksums.
  Instance whole("");
  bp_file* const other = whole.Opened();
  Fill(&whole, other, 0, 3 * kBlock + 100, 1);
  EXPECT_EQ(again.files().Save(), whole.files().Save());
}

TEST_F(Files, NewBytesAreZeroAfterAResume) {
  std::vector<std::byte> part;
  {
    Instance one(dir_);
    bp_file* const file = one.Opened();
    Fill(&one, file, 0, 10, 1);
    part = one.files().Save();
    Fill(&one, file, kBlock, kBlock, 9);
  }
  Instance again(dir_);
  bp_file* const file = again.Opened();
  ASSERT_EQ(again.api().grow(file, 2 * kBlock), BP_OK);  // during create
  again.files().Restore(part);
  EXPECT_EQ(file->bytes, 2 * kBlock);
  EXPECT_EQ(file->data[kBlock + 5], 0);
  EXPECT_EQ(file->data[5], 1);
  again.files().StartEmpty();
  EXPECT_EQ(file->data[5], 0);
}

TEST_F(Files, FlippedBitIsFoundWhereItIsNeeded) {
  std::vector<std::byte> part;
  {
    Instance one(dir_);
    bp_file* const file = one.Opened();
    Fill(&one, file, 0, 3 * kBlock + 100, 1);
    part = one.files().Save();
    one.files().Sync();
  }
  Flip(2 * kBlock + 77);
  Instance again(dir_);
  bp_file* const file = again.Opened();
  again.files().Restore(part);
  EXPECT_EQ(again.api().need(file, 0, 2 * kBlock), BP_OK);
  EXPECT_EQ(again.api().need(file, 2 * kBlock, 8), BP_E_IO);
  EXPECT_THAT(again.Error(), AllOf(HasSubstr(ring().string() + ": block 2 (bytes 2097152 to 3145728) is damaged"),
                                   HasSubstr("hint: delete " + dir_.string())));
  EXPECT_EQ(again.api().need(file, 3 * kBlock, 100), BP_OK);
  EXPECT_EQ(again.api().need(file, 2 * kBlock, 8), BP_E_IO) << "it stays damaged";
}

TEST_F(Files, DamageAtTheEndIsFoundBeforeAWriteContinues) {
  std::vector<std::byte> part;
  {
    Instance one(dir_);
    bp_file* const file = one.Opened();
    Fill(&one, file, 0, 100, 1);
    part = one.files().Save();
  }
  Flip(3);
  Instance again(dir_);
  bp_file* const file = again.Opened();
  again.files().Restore(part);
  EXPECT_EQ(again.api().written(file, 100, 1), BP_E_IO);
  Fill(&again, file, 0, 50, 2);  // an overwritten block needs no comparison
  EXPECT_EQ(again.api().need(file, 0, 50), BP_OK);
}

TEST_F(Files, MissingFileIsFoundAndNamed) {
  std::vector<std::byte> part;
  {
    Instance one(dir_);
    Fill(&one, one.Opened(), 0, 100, 1);
    part = one.files().Save();
  }
  fs::remove(ring());
  Instance again(dir_);
  bp_file* const file = again.Opened();
  again.files().Restore(part);
  EXPECT_EQ(again.api().need(file, 0, 1), BP_E_IO);
  EXPECT_THAT(again.Error(), HasSubstr("the file had 0 of 1048576 bytes"));
}

TEST_F(Files, RejectsADamagedDescription) {
  Instance one("");
  Fill(&one, one.Opened(), 0, 100, 1);
  const std::vector<std::byte> part = one.files().Save();
  for (size_t n = 1; n < part.size(); ++n) {
    const std::vector<std::byte> cut(part.begin(), part.begin() + static_cast<ptrdiff_t>(n));
    EXPECT_THROW(one.files().Restore(cut), TrialFailure) << n;
  }
  std::vector<std::byte> longer = part;
  longer.back() = std::byte{1};  // a block of 2^56 bytes
  EXPECT_THROW(one.files().Restore(longer), TrialFailure);
}

TEST_F(Files, IterationWritesNoMoreThanClaimed) {
  Instance one("");
  bp_file* const file = one.Opened(8 * kBlock, 100, 300 + 2 * kBlock);
  one.files().BeginIteration();
  Fill(&one, file, 0, 100, 1);
  EXPECT_EQ(one.api().written(file, 100, 1), BP_E_INVALID_ARG);
  EXPECT_THAT(one.Error(), HasSubstr("expected at most iteration_bytes = 100 per iteration, got 101"));
  one.files().BeginIteration();
  EXPECT_EQ(one.api().written(file, 100, 1), BP_OK);
}

// A ring whose learner reads its newest entries, with a checkpoint before each iteration that needs one. After each iteration,
// both kept checkpoints must find all blocks that they need.
class Ring : public Files {
 protected:
  // Returns the number of checkpoints.
  uint64_t Play(uint64_t per_iteration, int iterations) {
    constexpr uint64_t kEach = 1000, kHeld = 3000;  // bytes of an entry; entries that the learner reads
    const uint64_t iteration = kEach * per_iteration, slack = 3 * iteration + 2 * kBlock, slots = kHeld + slack / kEach + 1;
    Instance one(dir_);
    bp_file* const file = one.Opened(slots * kEach, iteration, slack);
    EXPECT_EQ(one.api().grow(file, slots * kEach), BP_OK);
    uint64_t count = 0, saves = 0;
    std::vector<std::pair<std::vector<std::byte>, uint64_t>> kept;  // with the number of entries
    const auto save = [&] {
      ++saves;
      if (kept.size() == 2) kept.erase(kept.begin());
      kept.emplace_back(one.files().Save(), count);
      one.files().NoteKept(kept.size() == 2 ? one.files().newest() : one.files().Now(), one.files().Now());
    };
    save();
    for (int round = 0; round < iterations; ++round) {
      for (int i = 0; i < 2 && one.files().NeedsCheckpoint(); ++i) save();
      one.files().BeginIteration();
      for (uint64_t i = 0; i < per_iteration; ++i, ++count)
        Fill(&one, file, count % slots * kEach, kEach, static_cast<int>(count % 251));
      for (const auto& [part, entries] : kept) {
        fs::create_directories(dir_ / "copy");
        fs::copy_file(ring(), dir_ / "copy" / "ring.data", fs::copy_options::overwrite_existing);
        Instance resumed(dir_ / "copy");
        bp_file* const its = resumed.Opened(slots * kEach, iteration, slack);
        resumed.files().Restore(part);
        for (uint64_t entry = entries - std::min(entries, kHeld); entry < entries; ++entry)
          if (resumed.api().need(its, entry % slots * kEach, kEach) != BP_OK) {
            ADD_FAILURE() << "round " << round << ", entry " << entry << " of " << entries << ": " << resumed.Error();
            return saves;
          }
      }
    }
    return saves;
  }
};

// One iteration is shorter than the two blocks of the margin.
TEST_F(Ring, KeptCheckpointsFindTheirBytes) {
  const uint64_t saves = Play(700, 40);
  EXPECT_GT(saves, 10u);
  EXPECT_LT(saves, 41u) << "not one per iteration";
}

TEST_F(Ring, KeptCheckpointsFindTheirBytesAfterLongIterations) {
  const uint64_t saves = Play(3000, 12);
  EXPECT_GT(saves, 4u);
  EXPECT_LT(saves, 13u) << "not one per iteration";
}

TEST_F(Files, CopiesEqualTheirSource) {
  Instance one(""), two("");
  bp_file* const from = one.Opened();
  bp_file* const to = two.Opened();
  Fill(&one, from, 0, kBlock + 10, 5);
  Fill(&two, to, 0, kBlock, 6);
  two.files().CopyFrom(one.files());
  EXPECT_EQ(two.files().Save(), one.files().Save());
  EXPECT_EQ(two.api().need(to, 0, kBlock + 10), BP_OK);
  EXPECT_EQ(to->data[kBlock + 9], 5);
}

}  // namespace
}  // namespace backplane
