// SHA-256, for names of trials and identity of files.
#pragma once

#include <array>
#include <cstddef>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>

struct SHA256state_st;  // of libcrypto

namespace backplane {

// A streaming hash.
class Sha256Digest {
 public:
  Sha256Digest();
  ~Sha256Digest();
  void Add(const void* data, size_t size);
  // Return the hash of all added bytes and end the digest.
  std::array<unsigned char, 32> Bytes();
  std::string Hex();

 private:
  std::unique_ptr<SHA256state_st> state_;
};

// 64 lower-case hex digits. The file form throws std::runtime_error if the file cannot be read.
std::string Sha256(std::string_view text);
std::string Sha256OfFile(const std::filesystem::path& file);

}  // namespace backplane
