#include "base/files.hpp"

#include <fcntl.h>
#include <openssl/evp.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <memory>
#include <sstream>
#include <stdexcept>

namespace backplane {
namespace {

[[noreturn]] void Fail(const std::string& what, const std::filesystem::path& file) {
  throw std::runtime_error(what + " " + file.string() + ": " + std::strerror(errno));
}

class Digest {
 public:
  Digest() : context_(EVP_MD_CTX_new(), EVP_MD_CTX_free) {
    if (!context_ || EVP_DigestInit_ex(context_.get(), EVP_sha256(), nullptr) != 1) {
      throw std::runtime_error("SHA-256 is not available from libcrypto");
    }
  }
  void Add(const void* data, size_t size) { EVP_DigestUpdate(context_.get(), data, size); }
  std::string Hex() {
    unsigned char bytes[EVP_MAX_MD_SIZE];
    unsigned int size = 0;
    EVP_DigestFinal_ex(context_.get(), bytes, &size);
    static constexpr char kDigits[] = "0123456789abcdef";
    std::string hex;
    for (unsigned int i = 0; i < size; ++i) {
      hex += kDigits[bytes[i] >> 4];
      hex += kDigits[bytes[i] & 15];
    }
    return hex;
  }

 private:
  std::unique_ptr<EVP_MD_CTX, decltype(&EVP_MD_CTX_free)> context_;
};

void SyncFolder(const std::filesystem::path& folder) {
  const int fd = open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (fd < 0) {
    return;  // the file itself is safe; only its name could be lost with the power
  }
  fsync(fd);
  close(fd);
}

// False with the reason in errno.
bool WriteAll(int fd, const std::string& text) {
  for (size_t done = 0; done < text.size();) {
    const ssize_t n = write(fd, text.data() + done, text.size() - done);
    if (n < 0 && errno != EINTR) {
      return false;
    }
    done += n > 0 ? static_cast<size_t>(n) : 0;
  }
  return true;
}

void Replace(const std::filesystem::path& file, const std::string& text, bool durable) {
  const std::filesystem::path temporary = file.string() + ".tmp";
  const int fd = open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
  if (fd < 0) {
    Fail("cannot create", temporary);
  }
  const bool written = WriteAll(fd, text) && (!durable || fsync(fd) == 0);
  const int error = errno;
  close(fd);
  if (!written) {
    // What did not fit must not keep the disk full: others still have to write down how this ended.
    unlink(temporary.c_str());
    errno = error;
    Fail("cannot write", temporary);
  }
  if (rename(temporary.c_str(), file.c_str()) != 0) {
    Fail("cannot rename a file to", file);
  }
}

}  // namespace

void WriteFileAtomic(const std::filesystem::path& file, const std::string& text) {
  Replace(file, text, /*durable=*/true);
  SyncFolder(file.parent_path().empty() ? "." : file.parent_path());
}

void ReplaceFile(const std::filesystem::path& file, const std::string& text) { Replace(file, text, /*durable=*/false); }

std::optional<std::string> ReadFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    return std::nullopt;
  }
  std::ostringstream text;
  text << stream.rdbuf();
  return text.str();
}

std::vector<std::string> LastLines(const std::filesystem::path& file, size_t count) {
  std::ifstream stream(file, std::ios::binary | std::ios::ate);
  if (!stream) {
    return {};
  }
  constexpr std::streamoff kTailBytes = 64 * 1024;
  const std::streamoff size = stream.tellg();
  stream.seekg(size > kTailBytes ? size - kTailBytes : 0);
  std::vector<std::string> lines;
  for (std::string line; std::getline(stream, line);) {
    if (line.find_first_not_of(" \t\r") != std::string::npos) {
      lines.push_back(line);
    }
  }
  if (lines.size() > count) {
    lines.erase(lines.begin(), lines.end() - static_cast<std::ptrdiff_t>(count));
  }
  return lines;
}

std::string Sha256(const std::string& text) {
  Digest digest;
  digest.Add(text.data(), text.size());
  return digest.Hex();
}

std::string Sha256OfFile(const std::filesystem::path& file) {
  std::ifstream stream(file, std::ios::binary);
  if (!stream) {
    Fail("cannot read", file);
  }
  Digest digest;
  char block[65536];
  while (stream.read(block, sizeof block) || stream.gcount() > 0) {
    digest.Add(block, static_cast<size_t>(stream.gcount()));
  }
  if (stream.bad()) {
    Fail("cannot read", file);
  }
  return digest.Hex();
}

}  // namespace backplane
