// Finds the quote, bracket or block scalar that was never closed. The parser reports such an error much later, or not at all.
#pragma once

#include <yaml-cpp/exceptions.h>

#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "yaml/tree_builder.hpp"

namespace backplane {

// A quote, a bracket or a block scalar without an end.
struct Opening {
  size_t position;  // of its first character in the text
  std::string why;
};

// Throws the exceptions of yaml-cpp and the builder.
void Parse(const std::string& text, TreeBuilder* builder);

// Rationale: the parser accepts a quote that the end of the file closes. The last scalar is the only one that can be open.
std::optional<Opening> FindOpenScalar(std::string_view text, std::optional<size_t> last_scalar);

// Finds the opening that causes a parser error. Absent: the error has a different cause.
std::optional<Opening> FindOpening(std::string_view text, const YAML::Exception& error, const TreeBuilder& builder,
                                   const std::shared_ptr<const Source>& source);

}  // namespace backplane
