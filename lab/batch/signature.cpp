#include "lab/batch/signature.hpp"

#include "core/sentence.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <vector>

#ifdef ISOMER_HAS_SODIUM
#include <sodium.h>
#endif

namespace isomer::lab {

#ifdef ISOMER_HAS_SODIUM
namespace {

namespace fs = std::filesystem;
using ByteList = std::vector<unsigned char>;

void begin() {
  if (sodium_init() < 0) core::fail(ErrorCode::unsupported, "libsodium cannot be used here");
}

ByteList bytes_of(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  if (!in || fs::is_directory(file)) core::fail(ErrorCode::io, file.string(), ": cannot be read");
  return {std::istreambuf_iterator<char>(in), {}};
}

ByteList digits_of(const fs::path& file, std::size_t count, const char* what) {
  const ByteList text = bytes_of(file);
  ByteList bytes(count + 1);
  std::size_t made = 0;
  if (sodium_hex2bin(bytes.data(), bytes.size(), reinterpret_cast<const char*>(text.data()), text.size(),
                     "\r\n ", &made, nullptr) != 0 ||
      made != count)
    core::fail(ErrorCode::bad_argument, file.string(), ": expected ", what, ", ", 2 * count,
               " hexadecimal digits");
  bytes.resize(count);
  return bytes;
}

void write_digits(const fs::path& file, const ByteList& bytes, int flags, int mode) {
  std::string text(2 * bytes.size() + 1, '\0');
  sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  text.back() = '\n';
  const int out = open(file.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC | flags, mode);
  const bool written = out >= 0 && write(out, text.data(), text.size()) == static_cast<ssize_t>(text.size());
  const int why = errno;
  if (out >= 0) close(out);
  if (!written) core::fail(ErrorCode::io, "cannot write '", file.string(), "': ", std::strerror(why));
}

ByteList key_of(const fs::path& key) {
  return digits_of(key, crypto_sign_SECRETKEYBYTES, "a key of isomer report key");
}

}  // namespace

void make_keys(const fs::path& file) {
  begin();
  ByteList open_key(crypto_sign_PUBLICKEYBYTES), secret(crypto_sign_SECRETKEYBYTES);
  crypto_sign_keypair(open_key.data(), secret.data());
  write_digits(file, secret, O_EXCL, 0600);
  write_digits(file.string() + ".pub", open_key, O_EXCL, 0644);
}

void check_key(const fs::path& key) {
  begin();
  key_of(key);
}

void sign_file(const fs::path& file, const fs::path& key) {
  begin();
  const ByteList text = bytes_of(file), secret = key_of(key);
  ByteList signature(crypto_sign_BYTES);
  crypto_sign_detached(signature.data(), nullptr, text.data(), text.size(), secret.data());
  write_digits(file.string() + ".sig", signature, O_TRUNC, 0644);
}

bool verify_file(const fs::path& file, const fs::path& public_key) {
  begin();
  const ByteList text = bytes_of(file),
                 signature = digits_of(file.string() + ".sig", crypto_sign_BYTES, "a signature"),
                 key = digits_of(public_key, crypto_sign_PUBLICKEYBYTES, "a public key");
  return crypto_sign_verify_detached(signature.data(), text.data(), text.size(), key.data()) == 0;
}
#else
namespace {

[[noreturn]] void without() {
  core::fail(ErrorCode::unsupported, "this build cannot sign: it needs libsodium-dev");
}

}  // namespace

void make_keys(const std::filesystem::path&) { without(); }
void check_key(const std::filesystem::path&) { without(); }
void sign_file(const std::filesystem::path&, const std::filesystem::path&) { without(); }
bool verify_file(const std::filesystem::path&, const std::filesystem::path&) { without(); }
#endif

}  // namespace isomer::lab
