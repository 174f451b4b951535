// The words for non-finite numbers: NaN, Infinity and their spellings in other languages.
#pragma once

#include <optional>
#include <string>
#include <string_view>

namespace backplane {

// "nan", "inf", "infinity", with or without a sign, in any case.
bool IsNotFiniteWord(std::string_view text);

// The line with null instead of each such word that stands for a value. Absent: there is none.
std::optional<std::string> WithoutBareWords(std::string_view json);

}  // namespace backplane
