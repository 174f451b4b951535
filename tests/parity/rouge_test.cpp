// Compares plugins/common/rouge with the packages that it reproduces, on texts of rouge_oracle.py.
#include <gtest/gtest.h>

#include <cmath>
#include <map>

#include "oracle.hpp"
#include "rouge/porter.hpp"
#include "rouge/scorer.hpp"
#include "rouge/tokens.hpp"

namespace backplane::parity {
namespace {

using Json = nlohmann::json;
using rouge::Impl, rouge::MultiRef, rouge::Options, rouge::Tokenizer;

constexpr double kTolerance = 1e-9;

std::string FromHex(const std::string& hex) {
  std::string out;
  for (size_t i = 0; i < hex.size(); i += 2) out.push_back(static_cast<char>(std::stoi(hex.substr(i, 2), nullptr, 16)));
  return out;
}

// Configurations by the script's names.
std::map<std::string, Options> Configurations() {
  std::map<std::string, Options> out;
  for (const auto& [impl_name, impl] : {std::pair{"google", Impl::kGoogle}, {"pltrdy", Impl::kPltrdy}})
    for (const auto& [name, tokenizer, stem] :
         {std::tuple{"google/plain", Tokenizer::kGoogle, false}, std::tuple{"google/stem", Tokenizer::kGoogle, true},
          std::tuple{"whitespace/plain", Tokenizer::kWhitespace, false}, std::tuple{"char/plain", Tokenizer::kChar, false}})
      for (const auto& [multi_name, multi_ref] : {std::pair{"max", MultiRef::kMax}, {"mean", MultiRef::kMean}})
        out[std::string(impl_name) + "/" + name + "/" + multi_name] = {
            .impl = impl, .tokenizer = tokenizer, .stem = stem, .multi_ref = multi_ref};
  return out;
}

// Scores in the script's order; null for rejected texts.
Json Score(const rouge::Scorer& scorer, const std::string& prediction, const std::vector<std::string>& references) {
  const std::vector<std::string_view> views(references.begin(), references.end());
  try {
    Json out = Json::array();
    const auto add = [&](const rouge::Score& score) {
      for (const auto number : rouge::kNumbers) out.push_back(score.*number);
    };
    const rouge::Scores scores = scorer.Score(prediction, views);
    for (const auto type : rouge::kTypes) add(scores.*type);
    add(scorer.ScoreN(3, prediction, views));
    return out;
  } catch (const rouge::EmptyText&) {
    return nullptr;
  }
}

bool Equal(const Json& a, const Json& b) {
  if (a.is_null() || b.is_null()) return a.is_null() && b.is_null();
  for (size_t i = 0; i < b.size(); ++i)
    if (!(std::abs(a.at(i).get<double>() - b[i].get<double>()) <= kTolerance)) return false;
  return a.size() == b.size();
}

TEST(RougeParity, ScoresEqualThePackages) {
  const Json pairs = TheOracle().Ask({{"do", "pairs"}, {"seed", 8}, {"count", 1200}})["pairs"];
  ASSERT_EQ(pairs.size(), 1200u);
  for (const auto& [name, options] : Configurations()) {
    const rouge::Scorer scorer(options);
    // The pairs must distinguish scorers: by a ROUGE-2 between 0 and 1, and by a ROUGE-L other than ROUGE-1.
    int between = 0, reordered = 0, refused = 0;
    for (const Json& pair : pairs) {
      std::vector<std::string> references;
      for (const Json& reference : pair["references"]) references.push_back(FromHex(reference));
      const Json ours = Score(scorer, FromHex(pair["prediction"]), references);
      const Json& theirs = pair["scores"][name];
      ASSERT_TRUE(Equal(ours, theirs)) << name << "\nours   " << ours << "\ntheirs " << theirs << "\nprediction "
                                       << pair["prediction"] << "\nreferences " << pair["references"];
      refused += theirs.is_null();
      between += !theirs.is_null() && theirs[5] > 0.0 && theirs[5] < 1.0;
      reordered += !theirs.is_null() && theirs[8] != theirs[2];
    }
    EXPECT_GT(between, 250) << name;
    EXPECT_GT(reordered, 50) << name;
    EXPECT_EQ(refused > 0, options.impl == Impl::kPltrdy) << name;
  }
}

TEST(RougeParity, StemsEqualNltk) {
  const Json answer = TheOracle().Ask({{"do", "stems"}});
  const Json &words = answer["words"], &stems = answer["stems"];
  EXPECT_GT(words.size(), 60000u);
  for (size_t i = 0; i < words.size(); ++i) {
    std::string word = words[i];
    rouge::PorterStem(&word);
    ASSERT_EQ(word, stems[i].get<std::string>()) << "stem of " << words[i];
  }
  std::printf("%zu words\n", words.size());
}

// Planes beyond 3 contain only tags, selectors and private use.
TEST(RougeParity, EveryCodePointIsTheSameToBoth) {
  const Json answer = TheOracle().Ask({{"do", "code_points"}});
  std::map<std::string, bool> spaces;
  for (const Json& space : answer["spaces"]) spaces[space] = true;
  rouge::Reader reader({.tokenizer = Tokenizer::kGoogle});
  rouge::Text text;
  for (char32_t c = 0; c < 0x40000; ++c) {
    if (c >= 0xD800 && c < 0xE000) continue;
    char name[8];
    std::snprintf(name, sizeof name, "%x", static_cast<unsigned>(c));
    std::string utf8;
    rouge::AppendUtf8(c, &utf8);
    ASSERT_EQ(rouge::IsSpace(c), spaces.contains(name)) << name;
    ASSERT_EQ(rouge::ComposedUtf8(utf8), answer["composed"].contains(name) ? FromHex(answer["composed"][name]) : utf8) << name;
    reader.Read("x" + utf8 + "y", &text);
    std::vector<std::string> tokens;
    for (const rouge::Id token : text.tokens) tokens.push_back(reader.vocabulary().word(token));
    ASSERT_EQ(tokens, answer["google"].value(name, std::vector<std::string>{"x", "y"})) << name;
  }
}

}  // namespace
}  // namespace backplane::parity
