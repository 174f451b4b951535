#include "mutate.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <fstream>
#include <stdexcept>

namespace backplane::fuzz {
namespace {

struct Range {
  size_t begin, size;
};

Range AnyRange(const Bytes& input, size_t most, Random* random) {
  const size_t begin = Below(random, input.size() + 1);
  return {begin, Below(random, std::min(most, input.size() - begin) + 1)};
}

void FlipBit(Bytes* input, Random* random) {
  if (input->empty()) return;
  char& byte = (*input)[Below(random, input->size())];
  byte = static_cast<char>(byte ^ (1 << Below(random, 8)));
}

void SetByte(Bytes* input, Random* random) {
  if (input->empty()) return;
  static constexpr char kTelling[] = "\0\1\x7f\x80\xff\n\t :,'\"[]{}()-*&!|>%@#0";
  const bool telling = Below(random, 2) == 0;
  (*input)[Below(random, input->size())] =
      telling ? kTelling[Below(random, sizeof kTelling - 1)] : static_cast<char>(Below(random, 256));
}

void InsertBytes(Bytes* input, Random* random) {
  const size_t at = Below(random, input->size() + 1);
  const size_t count = 1 + Below(random, Below(random, 16) == 0 ? 300 : 4);
  const char byte = static_cast<char>(Below(random, 256));
  input->insert(at, count, byte);
}

void Erase(Bytes* input, Random* random) {
  const Range range = AnyRange(*input, Below(random, 4) == 0 ? input->size() : 16, random);
  input->erase(range.begin, range.size);
}

// Sometimes many times, so that nested and listed parts grow deep or long.
void Repeat(Bytes* input, size_t most_bytes, Random* random) {
  const Range range = AnyRange(*input, 64, random);
  const Bytes part = input->substr(range.begin, range.size);
  if (part.empty()) return;
  const size_t times = 1 + Below(random, Below(random, 8) == 0 ? 2000 : 4);
  Bytes repeated;
  for (size_t i = 0; i < times && repeated.size() < most_bytes; ++i) repeated += part;
  input->insert(range.begin, repeated);
}

void CopyWithin(Bytes* input, Random* random) {
  const Range range = AnyRange(*input, 128, random);
  const Bytes part = input->substr(range.begin, range.size);
  const size_t to = Below(random, input->size() + 1);
  if (Below(random, 2) == 0) {
    input->insert(to, part);
  } else {
    input->replace(to, part.size(), part);
  }
}

constexpr std::array<uint64_t, 16> kBounds = {0,          1,          2,          0x7f,       0x80,       0xff,
                                              0x7fff,     0xffff,     1 << 16,    0x7fffffff, 0x80000000, 0xffffffff,
                                              1ull << 32, 1ull << 62, ~0ull >> 1, ~0ull};

void SetBinaryNumber(Bytes* input, Random* random) {
  const size_t bytes = size_t{1} << Below(random, 4);
  if (input->size() < bytes) return;
  uint64_t value = kBounds[Below(random, kBounds.size())] + Below(random, 5) - 2;
  if (Below(random, 4) == 0) value = (*random)();
  const bool big_endian = Below(random, 4) == 0;
  const size_t at = Below(random, input->size() - bytes + 1);
  for (size_t i = 0; i < bytes; ++i) {
    (*input)[at + (big_endian ? bytes - 1 - i : i)] = static_cast<char>(value >> (8 * i));
  }
}

// Adds a small number to a byte, for lengths and offsets that are off by a few.
void AddToByte(Bytes* input, Random* random) {
  if (input->empty()) return;
  char& byte = (*input)[Below(random, input->size())];
  byte = static_cast<char>(byte + static_cast<int>(Below(random, 33)) - 16);
}

void SetTextNumber(Bytes* input, Random* random) {
  static const std::array<Bytes, 16> kTexts = {
      "0",   "-1",   "1000000000", "9223372036854775807", "1e308", "-1e-320", "18446744073709551616",  "4294967296", ".5",
      "010", "0x10", ".nan",       "2147483648",          "1e",    "-",       "1.7976931348623157e309"};
  const size_t from = Below(random, input->size() + 1);
  const auto digit = [](char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; };
  const auto begin = std::find_if(input->begin() + static_cast<std::ptrdiff_t>(from), input->end(), digit);
  const auto end = std::find_if_not(begin, input->end(), digit);
  if (begin != end) input->replace(begin, end, kTexts[Below(random, kTexts.size())]);
}

Range AnyLine(const Bytes& input, Random* random) {
  const size_t at = Below(random, input.size() + 1);
  const size_t before = at == 0 ? Bytes::npos : input.rfind('\n', at - 1);
  const size_t begin = before == Bytes::npos ? 0 : before + 1;
  const size_t end = std::min(input.find('\n', begin), input.size() - (input.empty() ? 0 : 1));
  return {begin, input.empty() ? 0 : end - begin + 1};
}

void ChangeLine(Bytes* input, const Bytes& other, Random* random) {
  const Range line = AnyLine(*input, random);
  const Bytes text = input->substr(line.begin, line.size);
  const Range another = AnyLine(other, random);
  switch (Below(random, 5)) {
    case 0: input->erase(line.begin, line.size); break;
    case 1: input->insert(line.begin, text); break;
    case 2: input->insert(line.begin, 1 + Below(random, 4), ' '); break;
    case 3: input->insert(line.begin, other.substr(another.begin, another.size)); break;
    default: input->replace(line.begin, line.size, other.substr(another.begin, another.size)); break;
  }
}

void Splice(Bytes* input, const Bytes& other, Random* random) {
  const Range theirs = AnyRange(other, other.size(), random);
  const Range ours = AnyRange(*input, input->size(), random);
  input->replace(ours.begin, ours.size, other.substr(theirs.begin, theirs.size));
}

int HexDigit(char c) {
  if (c >= '0' && c <= '9') return c - '0';
  if (c >= 'a' && c <= 'f') return c - 'a' + 10;
  return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

// The text between two quotes that begin at `at`.
Bytes Unescaped(const Bytes& line, size_t at) {
  Bytes word;
  for (++at; at < line.size() && line[at] != '"'; ++at) {
    if (line[at] != '\\' || at + 1 >= line.size()) {
      word += line[at];
    } else if (line[at + 1] == 'x' && at + 3 < line.size() && HexDigit(line[at + 2]) >= 0 && HexDigit(line[at + 3]) >= 0) {
      word += static_cast<char>(HexDigit(line[at + 2]) * 16 + HexDigit(line[at + 3]));
      at += 3;
    } else {
      word += line[++at];
    }
  }
  return at < line.size() ? word : Bytes();
}

}  // namespace

size_t Below(Random* random, size_t n) { return n == 0 ? 0 : static_cast<size_t>((*random)() % n); }

void Mutator::ChangeOnce(Bytes* input, const Bytes& other, Random* random) const {
  const size_t kinds = words_.empty() ? 11 : 14;
  switch (Below(random, kinds)) {
    case 0: return FlipBit(input, random);
    case 1: return SetByte(input, random);
    case 2: return InsertBytes(input, random);
    case 3: return Erase(input, random);
    case 4: return Repeat(input, most_bytes_, random);
    case 5: return CopyWithin(input, random);
    case 6: return SetBinaryNumber(input, random);
    case 7: return AddToByte(input, random);
    case 8: return SetTextNumber(input, random);
    case 9: return ChangeLine(input, other, random);
    case 10: return Splice(input, other, random);
    default: break;
  }
  const Bytes& word = words_[Below(random, words_.size())];
  const size_t at = Below(random, input->size() + 1);
  input->replace(at, Below(random, 2) == 0 ? 0 : word.size(), word);
}

Bytes Mutator::Mutate(Bytes input, const Bytes& other, Random* random) const {
  const size_t changes = 1 + Below(random, 1 + Below(random, 8));
  for (size_t i = 0; i < changes; ++i) {
    ChangeOnce(&input, other, random);
    if (input.size() > most_bytes_) input.resize(most_bytes_);
  }
  return input;
}

std::vector<Bytes> ReadDictionary(const std::string& file) {
  std::ifstream stream(file);
  if (!stream) throw std::runtime_error("cannot read the dictionary " + file);
  std::vector<Bytes> words;
  for (Bytes line; std::getline(stream, line);) {
    if (line.empty() || line[0] == '#') continue;
    const size_t quote = line.find('"');
    const Bytes word = quote == Bytes::npos ? Bytes() : Unescaped(line, quote);
    if (word.empty()) throw std::runtime_error(file + ": wanted name=\"word\" or \"word\", found " + line);
    words.push_back(word);
  }
  return words;
}

}  // namespace backplane::fuzz
