// The JSON header of a .safetensors file.
#pragma once

#include <string_view>

#include "safetensors.hpp"

namespace backplane::safetensors {

struct Header {
  Tensors tensors;  // `data` counts from `data` of ParseHeader
  Metadata metadata;
};

// Throws std::runtime_error if the header is invalid or does not describe exactly `bytes` bytes of data.
Header ParseHeader(std::string_view text, const std::byte* data, uint64_t bytes);

// As in the file: by dtype, the last one first, then by name.
std::vector<const Tensors::value_type*> FileOrder(const Tensors& tensors);

// Padded with spaces to a multiple of 8 bytes.
std::string FormatHeader(const Metadata& metadata, const Tensors& tensors);

constexpr uint64_t kMaxHeaderBytes = 100'000'000;

}  // namespace backplane::safetensors
