#include "figures/figure_text.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <utility>

namespace backplane {
namespace {

constexpr char32_t kEllipsis = 0x2026;

// Advance widths of the characters from ' ' to '~', in hundredths of an em.
constexpr std::array<int, 95> kWidths = {32, 40, 46, 84, 64, 95, 78, 27, 39, 39, 50, 84, 32, 36,  32, 34, 64, 64, 64,
                                         64, 64, 64, 64, 64, 64, 64, 34, 34, 84, 84, 84, 53, 100, 68, 69, 70, 77, 63,
                                         58, 77, 75, 29, 29, 66, 56, 86, 75, 79, 60, 79, 69, 63,  61, 73, 68, 99, 69,
                                         61, 69, 39, 34, 39, 84, 50, 50, 61, 63, 55, 63, 62, 35,  63, 63, 28, 28, 58,
                                         28, 97, 63, 61, 63, 63, 41, 52, 39, 63, 59, 82, 59, 59,  52, 64, 34, 64, 84};

// The larger blocks that DejaVu Sans and its bold face have whole.
bool HasGlyph(char32_t code) {
  constexpr std::array<std::pair<char32_t, char32_t>, 10> kBlocks = {{{0x20, 0x2E9},
                                                                      {0x300, 0x34F},
                                                                      {0x391, 0x525},
                                                                      {0x1E00, 0x1EFB},
                                                                      {0x2000, 0x2064},
                                                                      {0x2070, 0x2070},
                                                                      {0x2074, 0x208E},
                                                                      {0x20AC, 0x20AC},
                                                                      {0x2190, 0x2311},
                                                                      {0x2500, 0x269C}}};
  return code == kReplacementCharacter || std::any_of(kBlocks.begin(), kBlocks.end(), [&](const auto& block) {
           return code >= block.first && code <= block.second;
         });
}

double Width(char32_t code) {
  if (code >= ' ' && code <= '~') return kWidths[code - ' '] / 100.0;
  return code < 0x1100 ? 0.7 : 1.0;  // accented letters and Greek; Hangul and the like fill their square
}

double Width(const std::u32string& text) {
  double width = 0;
  for (const char32_t code : text) width += Width(code);
  return width;
}

// "lr=0.1 seed" is "lr", "=", "0.1", " ", "seed".
std::vector<std::string> WordsOf(const std::string& name) {
  std::vector<std::string> words;
  bool apart = true;
  for (const char c : name) {
    const bool separator = c == ' ' || c == '_' || c == '=' || c == ',';
    if (separator || apart)
      words.emplace_back(1, c);
    else
      words.back() += c;
    apart = separator;
  }
  return words;
}

}  // namespace

std::string XmlText(const std::string& text) {
  std::string escaped;
  for (const char c : OneLine(text)) {
    switch (c) {
      case '&': escaped += "&amp;"; break;
      case '<': escaped += "&lt;"; break;
      case '>': escaped += "&gt;"; break;
      case '"': escaped += "&quot;"; break;
      default: escaped += c;
    }
  }
  return escaped;
}

double TextWidth(const std::string& text) { return Width(FromUtf8(text)); }

std::string Shorten(const std::string& text, double width) {
  const std::u32string whole = FromUtf8(text);
  if (Width(whole) <= width) return text;
  size_t front = 0, back = 0;
  double used = Width(kEllipsis);
  while (front + back < whole.size()) {
    const bool at_front = front <= back;
    used += Width(at_front ? whole[front] : whole[whole.size() - 1 - back]);
    if (used > width) break;
    ++(at_front ? front : back);
  }
  return ToUtf8(whole.substr(0, front) + kEllipsis + whole.substr(whole.size() - back));
}

std::vector<std::string> ShortenNames(const std::vector<std::string>& names, double width) {
  const bool fit = std::all_of(names.begin(), names.end(), [&](const auto& name) { return TextWidth(name) <= width; });
  std::vector<std::vector<std::string>> split;
  for (const std::string& name : names) split.push_back(WordsOf(name));
  const bool alike = std::all_of(split.begin(), split.end(), [&](const auto& s) { return s.size() == split[0].size(); });
  std::vector<std::string> shortened = names;
  if (!fit && alike && names.size() > 1) {
    const auto shared = [&](size_t word) {
      return std::all_of(split.begin(), split.end(), [&](const auto& words) { return words[word] == split[0][word]; });
    };
    for (size_t i = 0; i < names.size(); ++i) {
      shortened[i].clear();
      bool left_out = false;
      for (size_t word = 0; word < split[i].size(); ++word) {
        if (!shared(word)) {
          shortened[i] += split[i][word];
        } else if (!left_out) {
          shortened[i] += ToUtf8({kEllipsis});
        }
        left_out = shared(word);
      }
    }
  }
  for (std::string& name : shortened) name = Shorten(name, width);
  return shortened;
}

std::string DejaVuText(const std::string& text) {
  constexpr char32_t kSquare = 0x25A1;
  std::u32string decoded = FromUtf8(text);
  std::replace_if(
      decoded.begin(), decoded.end(), [](char32_t code) { return !HasGlyph(code); }, kSquare);
  return ToUtf8(decoded);
}

std::string PlainNumber(double value) {
  if (!std::isfinite(value)) return "NaN";
  std::array<char, 32> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string GroupedNumber(double value, int decimals) {
  std::array<char, 400> text;  // the largest double has 309 digits
  const double positive = std::abs(value);
  const auto end =
      std::to_chars(text.data(), text.data() + text.size(), positive, std::chars_format::fixed, std::min(decimals, 60));
  std::string digits(text.data(), end.ptr);
  const bool negative = value < 0 && digits.find_first_not_of("0.") != std::string::npos;
  for (size_t at = std::min(digits.find('.'), digits.size()); at > 3;) digits.insert(at -= 3, 1, ',');
  return (negative ? "-" : "") + digits;
}

}  // namespace backplane
