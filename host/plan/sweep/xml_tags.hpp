// The elements of an XML text with their attributes, in their order. Malformed XML is skipped: the program that reads the file
// reports it.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace backplane {

struct XmlTag {
  std::string name;
  std::vector<std::pair<std::string, std::string>> attributes;  // values with their entities replaced

  // NULL: it has no such attribute.
  const std::string* Find(std::string_view attribute) const;
};

std::vector<XmlTag> XmlTags(std::string_view text);

}  // namespace backplane
