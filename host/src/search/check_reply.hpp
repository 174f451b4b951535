// Checks what the side process of a search answers, before anything follows from it or is written down.
#pragma once

#include <cstdint>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "record/search_record.hpp"

namespace backplane {

// What is wrong with the reply to `request`, a clause; empty: it can be used. `known`: the search so far. `number`: of the
// suggestion that an `adopt` brings.
std::string ReplyError(const nlohmann::json& request, const nlohmann::json& reply, const SearchRecord& known,
                       std::optional<uint64_t> number = std::nullopt);

}  // namespace backplane
