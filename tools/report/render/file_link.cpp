#include "render/file_link.hpp"

#include <fmt/format.h>

namespace backplane {

std::string FileLink(const std::string& name) {
  std::string link;
  for (const char c : name) {
    const bool is_plain =
        (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '.' || c == '_' || c == '-';
    link += is_plain ? std::string(1, c) : fmt::format("%{:02X}", static_cast<unsigned char>(c));
  }
  return link;
}

}  // namespace backplane
