// The place in a file of a character within a scalar.
#pragma once

#include "yaml/document.hpp"

namespace backplane {

// Returns the place of byte `offset` of `scalar.text`, past quotes and escapes. For a scalar of several lines or behind a tag,
// returns the place of the scalar.
Mark PlaceWithin(const Node& scalar, size_t offset);

}  // namespace backplane
