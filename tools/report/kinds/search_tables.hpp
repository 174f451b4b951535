// The tables of a search.
#pragma once

#include <optional>
#include <vector>

#include "kinds/search_parts.hpp"
#include "results/option_importance.hpp"
#include "text/table.hpp"

namespace backplane {

// "best": a row per option. Absent without a complete trial.
std::optional<Table> BestTable(const SearchParts& parts);
// "confirmed": a row per setting that was run again.
std::optional<Table> ConfirmedTable(const SearchParts& parts);
// "importance"
std::optional<Table> ImportanceTable(const SearchParts& parts, const std::vector<OptionImportance>& importances);
// "suggestions": a row per suggestion, the best first.
Table SuggestionsTable(const SearchParts& parts, const std::string& trials_folder);

}  // namespace backplane
