// Compares the runs of two points bit by bit, by the fingerprints of their trials.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace backplane {

// The folders of trials with the same seeds in the same order. Absent: the bits of a trial are unknown, because it has no
// fingerprints (output.fingerprints).
std::optional<bool> HaveSameBits(const std::vector<std::filesystem::path>& a, const std::vector<std::filesystem::path>& b);

}  // namespace backplane
