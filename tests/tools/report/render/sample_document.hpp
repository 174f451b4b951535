// Documents for tests and for visual checks.
#pragma once

#include "render/document.hpp"

namespace backplane {

// One block of every kind, few rows: fits into a golden text.
Document SmallDocument();

// As from a batch with `settings` settings: long names, failed rows with reasons, findings, two figures.
Document LargeDocument(size_t settings);

}  // namespace backplane
