// Checks replies of a search's side process before they are used or recorded.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "record/search_record.hpp"

namespace backplane {

// Returns a clause with the error of the reply to `request`; empty: it is valid. `known`: the search so far. `number`: the
// suggestion in an `adopt`.
std::string ReplyError(const nlohmann::json& request, const nlohmann::json& reply, const SearchRecord& known,
                       std::optional<uint64_t> number = std::nullopt);

}  // namespace backplane
