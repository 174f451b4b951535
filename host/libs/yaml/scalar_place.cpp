#include "yaml/scalar_place.hpp"

#include <optional>
#include <string_view>

namespace backplane {
namespace {

struct Piece {
  size_t written = 1;  // bytes in the file
  size_t meant = 1;    // bytes of the text
};

size_t Utf8Bytes(std::string_view hex) {
  size_t code = 0;
  for (const char c : hex) code = code * 16 + static_cast<size_t>(c <= '9' ? c - '0' : (c | 0x20) - 'a' + 10);
  return code < 0x80 ? 1 : code < 0x800 ? 2 : code < 0x10000 ? 3 : 4;
}

// An escape of a double-quoted scalar; `rest` starts with its backslash.
Piece Escape(std::string_view rest) {
  if (rest.size() < 2) return {};
  const auto coded = [&](size_t digits) { return Piece{2 + digits, Utf8Bytes(rest.substr(2, digits))}; };
  switch (rest[1]) {
    case 'x': return coded(2);
    case 'u': return coded(4);
    case 'U': return coded(8);
    case 'L':
    case 'P': return {2, 3};
    default: return {2, 1};  // \N and \_ too: the parser converts them to one byte
  }
}

Piece FirstPiece(std::string_view rest, char quote) {
  if (quote == '"' && rest[0] == '\\') return Escape(rest);
  if (quote == '\'' && rest.starts_with("''")) return {2, 1};
  return {};
}

// Bytes of the line behind the quote. Absent: the line ends before.
std::optional<size_t> WrittenBytes(std::string_view rest, char quote, size_t offset) {
  size_t written = 0;
  for (size_t meant = 0; meant < offset;) {
    if (written >= rest.size()) return std::nullopt;
    const Piece piece = FirstPiece(rest.substr(written), quote);
    written += piece.written, meant += piece.meant;
  }
  return written < rest.size() ? std::optional(written) : std::nullopt;
}

}  // namespace

Mark PlaceWithin(const Node& scalar, size_t offset) {
  Mark mark = scalar.mark;
  if (!mark.source || mark.line < 1 || mark.column < 1) return mark;
  const auto line = static_cast<size_t>(mark.line - 1), column = static_cast<size_t>(mark.column - 1);
  if (line >= mark.source->lines.size() || column >= mark.source->lines[line].size()) return mark;
  const std::string_view rest = std::string_view(mark.source->lines[line]).substr(column);
  const char quote = scalar.quoted ? rest[0] : '\0';
  if (scalar.quoted && quote != '"' && quote != '\'') return mark;
  if (!scalar.quoted && rest.substr(0, offset) != std::string_view(scalar.text).substr(0, offset)) return mark;
  const size_t begin = scalar.quoted ? 1 : 0;
  if (const auto written = WrittenBytes(rest.substr(begin), quote, offset)) mark.column += static_cast<int>(begin + *written);
  return mark;
}

}  // namespace backplane
