#include "sweep/xml_tags.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>

namespace backplane {
namespace {

constexpr std::string_view kBlanks = " \t\r\n";

void AppendUtf8(uint32_t code, std::string* text) {
  if (code < 0x80) {
    *text += static_cast<char>(code);
  } else if (code < 0x800) {
    *text += static_cast<char>(0xC0 | (code >> 6));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  } else if (code < 0x10000) {
    *text += static_cast<char>(0xE0 | (code >> 12));
    *text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  } else {
    *text += static_cast<char>(0xF0 | ((code >> 18) & 0x07));
    *text += static_cast<char>(0x80 | ((code >> 12) & 0x3F));
    *text += static_cast<char>(0x80 | ((code >> 6) & 0x3F));
    *text += static_cast<char>(0x80 | (code & 0x3F));
  }
}

// `name` is the text between '&' and ';'. False: it is unknown.
bool AppendEntity(std::string_view name, std::string* text) {
  static constexpr std::array<std::pair<std::string_view, char>, 5> kNamed = {
      {{"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}}};
  for (const auto& [known, character] : kNamed) {
    if (name != known) continue;
    *text += character;
    return true;
  }
  if (!name.starts_with('#')) return false;
  const bool hexadecimal = name.starts_with("#x");
  const std::string_view digits = name.substr(hexadecimal ? 2 : 1);
  uint32_t code = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, hexadecimal ? 16 : 10);
  if (error != std::errc() || end != digits.data() + digits.size() || code == 0 || code > 0x10FFFF) return false;
  AppendUtf8(code, text);
  return true;
}

std::string WithoutEntities(std::string_view value) {
  constexpr size_t kLongest = 10;  // of an entity
  std::string text;
  for (size_t i = 0; i < value.size(); ++i) {
    const size_t end = value[i] == '&' ? value.substr(i, kLongest + 2).find(';') : value.npos;
    if (end != value.npos && AppendEntity(value.substr(i + 1, end - 1), &text)) {
      i += end;
    } else {
      text += value[i];
    }
  }
  return text;
}

class TagReader {
 public:
  explicit TagReader(std::string_view text) : text_(text) {}

  std::vector<XmlTag> Read() {
    std::vector<XmlTag> tags;
    while ((at_ = text_.find('<', at_)) < text_.size()) {
      if (Skips("<!--", "-->") || Skips("<![CDATA[", "]]>") || Skips("<?", "?>") || Skips("<!", ">") || Skips("</", ">"))
        continue;
      ++at_;
      XmlTag tag;
      tag.name = Word();
      while (ReadAttribute(&tag)) {
      }
      if (!tag.name.empty()) tags.push_back(std::move(tag));
    }
    return tags;
  }

 private:
  bool Skips(std::string_view begin, std::string_view end) {
    if (!text_.substr(at_).starts_with(begin)) return false;
    const size_t found = text_.find(end, at_ + begin.size());
    at_ = found == text_.npos ? text_.size() : found + end.size();
    return true;
  }

  void SkipBlanks() { at_ = std::min(text_.find_first_not_of(kBlanks, at_), text_.size()); }

  std::string Word() {
    const size_t end = std::min(text_.find_first_of(" \t\r\n=/><\"'", at_), text_.size());
    std::string word(text_.substr(at_, end - at_));
    at_ = end;
    return word;
  }

  // False at the end of the element's tag.
  bool ReadAttribute(XmlTag* tag) {
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] == '<') return false;
    const char next = text_[at_];
    if (next == '>' || next == '/' || next == '=' || next == '"' || next == '\'') {
      ++at_;
      return next != '>';
    }
    const std::string name = Word();
    SkipBlanks();
    if (at_ >= text_.size() || text_[at_] != '=') return at_ < text_.size();
    ++at_;
    SkipBlanks();
    if (at_ >= text_.size() || (text_[at_] != '"' && text_[at_] != '\'')) return at_ < text_.size();
    const size_t begin = at_ + 1, end = text_.find(text_[at_], begin);
    if (end == text_.npos) {
      at_ = text_.size();
      return false;
    }
    tag->attributes.emplace_back(name, WithoutEntities(text_.substr(begin, end - begin)));
    at_ = end + 1;
    return true;
  }

  const std::string_view text_;
  size_t at_ = 0;
};

}  // namespace

const std::string* XmlTag::Find(std::string_view attribute) const {
  for (const auto& [name, value] : attributes)
    if (name == attribute) return &value;
  return nullptr;
}

std::vector<XmlTag> XmlTags(std::string_view text) { return TagReader(text).Read(); }

}  // namespace backplane
