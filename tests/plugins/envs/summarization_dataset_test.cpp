// Tokens of the pairs, and the order of an epoch.
#include <gmock/gmock.h>

#include <set>

#include "backplane/plugin.hpp"
#include "backplane/rng.h"
#include "dataset.hpp"
#include "support/summaries.hpp"

namespace backplane::summarization {
namespace {

using testing::ElementsAre, testing::HasSubstr;

const Summaries& dataset_files() { return Summaries::Instance(); }
Vocabulary Pieces() { return Vocabulary(dataset_files().File("spm.model")); }
ReadOptions Tsv(std::vector<std::string> targets = {"summary"}) {
  return {.format = Format::kTsv, .columns = {"document", std::move(targets), ""}};
}
std::string Refusal(const std::function<void()>& body) {
  try {
    body();
  } catch (const bp::Error& e) {
    EXPECT_EQ(e.code(), BP_E_CONFIG);
    return e.what();
  }
  return "not refused";
}

TEST(Vocabulary, PutsTheTextBetweenBeginAndEndAndCutsIt) {
  const Vocabulary pieces = Pieces();
  std::vector<int32_t> whole, cut;
  const uint64_t n = pieces.Encode("The ferry to the island", 1000, &whole);
  EXPECT_EQ(whole.size(), n + 2);
  EXPECT_EQ(whole.front(), pieces.bos());
  EXPECT_EQ(whole.back(), pieces.eos());
  EXPECT_EQ(pieces.Decode(whole), "The ferry to the island");
  pieces.Encode("The ferry to the island", 5, &cut);
  EXPECT_THAT(cut, ElementsAre(pieces.bos(), whole[1], whole[2], whole[3], pieces.eos()));
}

// A model whose begin is its end (KoBART) was trained on texts without a begin.
TEST(Vocabulary, WithoutABeginPieceTextsHaveNoBegin) {
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--input=" + dataset_files().File("lines.txt") + " --model_prefix=" + dataset_files().File("no_begin") +
      " --vocab_size=200 --hard_vocab_limit=false --bos_id=-1 --unk_id=0 --eos_id=1 --pad_id=3 --minloglevel=2");
  ASSERT_TRUE(status.ok());
  const Vocabulary pieces(dataset_files().File("no_begin.model"));
  std::vector<int32_t> whole, cut;
  const uint64_t n = pieces.Encode("The ferry to the island", 1000, &whole);
  EXPECT_EQ(whole.size(), n + 1);
  EXPECT_EQ(whole.back(), 1);
  EXPECT_EQ(pieces.Decode(whole), "The ferry to the island");
  pieces.Encode("The ferry to the island", 4, &cut);
  EXPECT_THAT(cut, ElementsAre(whole[0], whole[1], whole[2], 1));
}

TEST(Vocabulary, RejectsFilesThatAreNoModels) {
  EXPECT_THAT(Refusal([] { Vocabulary(dataset_files().File("nowhere")); }), HasSubstr("expected a SentencePiece model"));
  std::ifstream file(dataset_files().File("spm.model"), std::ios::binary);
  const std::string model{std::istreambuf_iterator<char>(file), {}};
  for (const size_t bytes : {size_t{0}, size_t{1}, size_t{100}, model.size() / 2, model.size() - 1})
    EXPECT_THAT(Refusal([&] { Vocabulary(dataset_files().Write("cut.model", model.substr(0, bytes))); }),
                HasSubstr("cut.model"))
        << bytes;
}

TEST(Vocabulary, NeedsAPieceForPadding) {
  const auto status = sentencepiece::SentencePieceTrainer::Train("--input=" + dataset_files().File("lines.txt") +
                                                                 " --model_prefix=" + dataset_files().File("bare") +
                                                                 " --vocab_size=200 --hard_vocab_limit=false --minloglevel=2");
  ASSERT_TRUE(status.ok());
  EXPECT_THAT(Refusal([] { Vocabulary(dataset_files().File("bare.model")); }), HasSubstr("no piece for padding (<pad>)"));
}

TEST(Dataset, HoldsTheTokensOfEachPairAndTheTextsToScoreAgainst) {
  const Vocabulary pieces = Pieces();
  const Dataset data(dataset_files().File("english.tsv"), Tsv(), pieces, {64, 16});
  const auto pairs = Summaries::English();
  ASSERT_EQ(data.size(), pairs.size());
  for (uint64_t i = 0; i < data.size(); ++i) {
    std::vector<int32_t> source, target;
    pieces.Encode(pairs[i].first, 64, &source), pieces.Encode(pairs[i].second, 16, &target);
    EXPECT_TRUE(std::ranges::equal(data.Source(i), source));
    EXPECT_TRUE(std::ranges::equal(data.Target(i), target));
    EXPECT_THAT(std::vector(data.References(i).begin(), data.References(i).end()), ElementsAre(pairs[i].second));
  }
  EXPECT_EQ(data.Fingerprint(), Dataset(dataset_files().File("english.tsv"), Tsv(), pieces, {64, 16}).Fingerprint());
  EXPECT_NE(data.Fingerprint(), Dataset(dataset_files().File("english.tsv"), Tsv(), pieces, {20, 16}).Fingerprint());
}

TEST(Dataset, LearnsTheFirstOfSeveralTargetsAndKeepsAll) {
  const std::string file =
      dataset_files().Write("many.tsv", "document\tone\ttwo\nThe ferry\tA ferry\tA boat\nThe river\tA river\tRain\n");
  const Dataset data(file, Tsv({"two", "one"}), Pieces(), {64, 16});
  EXPECT_THAT(std::vector(data.References(1).begin(), data.References(1).end()), ElementsAre("Rain", "A river"));
  EXPECT_EQ(Pieces().Decode(data.Target(0)), "A boat");
}

TEST(Dataset, ATextWithoutTokensIsABadRow) {
  // U+200B is no white space, and SentencePiece's normalisation drops it.
  const std::string file = dataset_files().Write("zero.tsv", "document\tsummary\na\tb\nThe ferry\t\xE2\x80\x8B\nc\td\n");
  EXPECT_THAT(Refusal([&] {
                Dataset(file, Tsv(), Pieces(), {64, 16});
              }),
              HasSubstr("row 2 (line 3): expected a text with a token"));
  ReadOptions options = Tsv();
  options.skip_bad_rows = true;
  const Dataset data(file, options, Pieces(), {64, 16});
  EXPECT_EQ(data.size(), 2u);
  EXPECT_EQ(Pieces().Decode(data.Source(1)), "c");
  EXPECT_EQ(data.report().left_out, 1u);
  options.workers = 2;
  EXPECT_EQ(data.Fingerprint(), Dataset(file, options, Pieces(), {64, 16}).Fingerprint());
  options.max_items = 2;
  EXPECT_EQ(Dataset(file, options, Pieces(), {64, 16}).size(), 2u)
      << "the row after the first two is encoded when it is needed";
  const std::string none = dataset_files().Write("none.tsv", "document\tsummary\n\n");
  EXPECT_THAT(Refusal([&] { Dataset(none, options, Pieces(), {64, 16}); }), HasSubstr("has no usable row"));
}

TEST(EpochOrder, HoldsEveryItemOnceAndIsAFunctionOfTheSeed) {
  EpochOrder order(1000), other(1000);
  const std::vector<uint32_t> of_7 = order.Of(7), of_8 = order.Of(8), file = order.Of(0);
  EXPECT_EQ(std::set<uint32_t>(of_7.begin(), of_7.end()).size(), 1000u);
  EXPECT_EQ(*std::ranges::max_element(of_7), 999u);
  EXPECT_NE(of_7, of_8);
  EXPECT_EQ(of_7, other.Of(7));
  EXPECT_EQ(of_7, order.Of(7));
  EXPECT_TRUE(std::ranges::is_sorted(file));
}

// The same order from an independent implementation: Fisher and Yates with this package's generator.
TEST(EpochOrder, IsFisherAndYatesOverTheSharedGenerator) {
  std::vector<uint32_t> left{0, 1, 2, 3, 4}, expected(5);
  bp_rng rng{99, 0};
  for (size_t i = 5; i-- > 0;) {
    const size_t at = bp_rng_below(&rng, i + 1);
    expected[i] = left[at];
    left[at] = left[i];
    left.pop_back();
  }
  EXPECT_EQ(EpochOrder(5).Of(99), expected);
}

// All places of an item are equally likely: 6,000 orders of 6 items put an item at each place 1,000 times, with a standard
// deviation of 29.
TEST(EpochOrder, FavoursNoPlace) {
  int count[6][6] = {};
  EpochOrder order(6);
  for (uint64_t seed = 1; seed <= 6000; ++seed)
    for (int place = 0; place < 6; ++place) ++count[order.Of(seed)[place]][place];
  for (const auto& item : count)
    for (const int n : item) EXPECT_NEAR(n, 1000, 130);
}

TEST(Dataset, WorkersChangeNoToken) {
  const Vocabulary pieces = Pieces();
  ReadOptions options = Tsv();
  const Dataset alone(dataset_files().File("english.tsv"), options, pieces, {24, 8});
  for (const uint64_t workers : {1, 2, 7}) {
    options.workers = workers;
    const Dataset data(dataset_files().File("english.tsv"), options, pieces, {24, 8});
    EXPECT_EQ(alone.size(), data.size());
    EXPECT_EQ(alone.Fingerprint(), data.Fingerprint()) << workers << " workers";
  }
}

}  // namespace
}  // namespace backplane::summarization
