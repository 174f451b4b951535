// The little of Unicode that ROUGE needs. Categories and compositions come from utf8proc.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

namespace backplane::rouge {

// Reads the code point at *at, which must be before the end, and advances *at. Invalid UTF-8 gives U+FFFD for each maximal part
// (Unicode standard, table 3-8), like Python's errors="replace".
char32_t NextCodePoint(std::string_view text, size_t* at);

// Appends as UTF-8. The code point must not be a surrogate.
void AppendUtf8(char32_t code_point, std::string* out);

// Python's str.isspace(): category Zs and bidirectional types WS, B and S.
bool IsSpace(char32_t code_point);

// The text in normalization form C, with U+FFFD for invalid UTF-8. Throws std::bad_alloc.
std::string ComposedUtf8(std::string_view text);

// Counts letters (general category L*), and those among them that are not Latin. A letter with an accent is Latin.
struct Letters {
  void Add(std::string_view text);
  double foreign_share() const { return all == 0 ? 0 : static_cast<double>(foreign) / static_cast<double>(all); }

  int64_t all = 0, foreign = 0;
  char32_t first_foreign = 0;
};

}  // namespace backplane::rouge
