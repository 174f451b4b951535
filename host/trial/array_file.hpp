// Reads a file of NumPy arrays (.npz) from an unknown source: no pickle, no compression, every size checked against the file.
#pragma once

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace backplane {

// Numbers as doubles in C order, or a text.
struct NumpyArray {
  std::vector<uint64_t> shape;
  std::vector<double> values;
  std::string text;  // of a text
  bool is_text = false;
};

// By name, without ".npy". Throws std::runtime_error that starts with the file.
std::map<std::string, NumpyArray> ReadArrayFile(const std::filesystem::path& file);
// The same for its bytes. Throws std::runtime_error.
std::map<std::string, NumpyArray> ParseArrayFile(const std::string& bytes);

}  // namespace backplane
