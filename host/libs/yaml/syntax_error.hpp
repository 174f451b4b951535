// Words for errors of the YAML parser: the wrong indentation, bracket or space.
#pragma once

#include <yaml-cpp/exceptions.h>

#include <memory>
#include <string>

#include "yaml/document.hpp"

namespace backplane {

struct SyntaxError {
  Mark mark;
  std::string what, hint;  // the hint is a line to paste, or empty
};

SyntaxError ExplainSyntax(const YAML::Exception& error, const std::shared_ptr<const Source>& source);

}  // namespace backplane
