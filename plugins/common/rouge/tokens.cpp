#include "rouge/tokens.hpp"

#include <algorithm>
#include <array>

#include "rouge/porter.hpp"

namespace backplane::rouge {
namespace {

// Lower-case letter or digit of a byte that is part of a token, else 0.
constexpr std::array<char, 256> kTokenBytes = [] {
  std::array<char, 256> out{};
  for (int c = '0'; c <= '9'; ++c) out[c] = static_cast<char>(c);
  for (int c = 'a'; c <= 'z'; ++c) out[c] = out[c - 'a' + 'A'] = static_cast<char>(c);
  return out;
}();

// The two non-ASCII characters whose lower case contains an ASCII letter. Other valid or broken sequences do not contain these
// bytes, because their first bytes only occur at the start of a character.
constexpr std::string_view kDottedI = "\xC4\xB0", kKelvin = "\xE2\x84\xAA";

constexpr size_t kShortestStemmed = 4;

}  // namespace

Id Vocabulary::Find(std::string_view word) {
  if (const auto known = ids_.find(word); known != ids_.end()) return known->second;
  const auto [entry, inserted] = ids_.emplace(word, static_cast<Id>(words_.size()));
  words_.push_back({&entry->first, std::nullopt});
  bytes_ += word.size() + 128;  // estimate for the rest of an entry
  return entry->second;
}

Id Vocabulary::FindStem(std::string_view word) {
  const Id id = Find(word);
  if (words_[id].stem) return *words_[id].stem;
  buffer_ = word;
  PorterStem(&buffer_);
  const Id stem = Find(buffer_);
  words_[id].stem = stem;
  return stem;
}

void Reader::Read(std::string_view text, Text* out) {
  out->Clear();
  if (options_.impl == Impl::kGoogle) return ReadLines(text, out);
  if (options_.tokenizer == Tokenizer::kWhitespace) return ReadPieces(text, out);
  Join(text);
  ReadPieces(joined_, out);
}

// Lines without tokens are skipped, because they cannot affect a score.
void Reader::ReadLines(std::string_view text, Text* out) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('\n', begin), text.size());
    const std::string_view line = text.substr(begin, end - begin);
    const size_t before = out->tokens.size();
    if (options_.tokenizer == Tokenizer::kGoogle)
      ReadGoogle(line, &out->tokens);
    else
      ReadUnicode(line, options_.tokenizer == Tokenizer::kChar, &out->tokens);
    if (out->tokens.size() > before) out->ends.push_back(out->tokens.size());
    begin = end + 1;
  }
}

void Reader::ReadGoogle(std::string_view line, std::vector<Id>* out) {
  word_.clear();
  const auto end_word = [&] {
    if (word_.empty()) return;
    out->push_back(options_.stem && word_.size() >= kShortestStemmed ? vocabulary_.FindStem(word_) : vocabulary_.Find(word_));
    word_.clear();
  };
  for (size_t i = 0; i < line.size(); ++i) {
    if (const char c = kTokenBytes[static_cast<uint8_t>(line[i])]) {
      word_.push_back(c);
    } else if (line.substr(i).starts_with(kKelvin)) {
      word_.push_back('k');
      i += kKelvin.size() - 1;
    } else {
      if (line.substr(i).starts_with(kDottedI)) word_.push_back('i');  // lower case is i and a combining dot, which separates
      end_word();
    }
  }
  end_word();
}

void Reader::ReadUnicode(std::string_view line, bool chars, std::vector<Id>* out) {
  const std::string composed = chars ? ComposedUtf8(line) : std::string();
  const std::string_view text = chars ? std::string_view(composed) : line;
  word_.clear();
  for (size_t at = 0; at < text.size();) {
    const char32_t c = NextCodePoint(text, &at);
    const bool space = IsSpace(c);
    if (!space) AppendUtf8(c, &word_);
    if (word_.empty() || (!space && !chars)) continue;
    out->push_back(vocabulary_.Find(word_));
    word_.clear();
  }
  if (!word_.empty()) out->push_back(vocabulary_.Find(word_));
}

// " ".join(piece.split()).split(" ") for each piece, so a blank piece has one empty token.
void Reader::ReadPieces(std::string_view text, Text* out) {
  for (size_t begin = 0; begin <= text.size();) {
    const size_t end = std::min(text.find('.', begin), text.size());
    if (end > begin) {
      const size_t before = out->tokens.size();
      ReadUnicode(text.substr(begin, end - begin), /*chars=*/false, &out->tokens);
      if (out->tokens.size() == before) out->tokens.push_back(vocabulary_.Find(""));
      out->ends.push_back(out->tokens.size());
    }
    begin = end + 1;
  }
}

// Fills joined_ with the tokens of the text, a space between each two.
void Reader::Join(std::string_view text) {
  unjoined_.Clear();
  ReadLines(text, &unjoined_);
  joined_.clear();
  for (const Id token : unjoined_.tokens) {
    if (!joined_.empty()) joined_.push_back(' ');
    joined_ += vocabulary_.word(token);
  }
}

}  // namespace backplane::rouge
