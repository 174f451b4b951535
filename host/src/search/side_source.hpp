// optuna_side.py, as it stands in the program.
#pragma once

namespace backplane {

extern const char* const kSearchSource;

}  // namespace backplane
