// Compares the runs of two points bit by bit, by the fingerprints of their trials.
#pragma once

#include <filesystem>
#include <optional>
#include <vector>

namespace backplane {

// Takes the folders of trials with equal seeds in equal order. Absent if a trial has no fingerprints (output.fingerprints).
std::optional<bool> HaveSameBits(const std::vector<std::filesystem::path>& a, const std::vector<std::filesystem::path>& b);

}  // namespace backplane
