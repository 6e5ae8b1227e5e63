#pragma once

#include <filesystem>
#include <string>

namespace isomer::lab {

/// Ed25519 signatures of results files, by libsodium. Keys and signatures are files of hexadecimal digits. All throw
/// Error: unsupported in a build without libsodium, io and bad_argument with the file and what is wrong in it.

/// A fresh pair of keys: `file`, which only its owner may read, and `file`.pub. Neither may be there.
void make_keys(const std::filesystem::path& file);
/// Writes `file`.sig with the key of make_keys; the key is looked at before work begins by check_key.
void sign_file(const std::filesystem::path& file, const std::filesystem::path& key);
void check_key(const std::filesystem::path& key);
/// Whether `file`.sig is the signature of the file by the owner of that public key.
bool verify_file(const std::filesystem::path& file, const std::filesystem::path& public_key);

}  // namespace isomer::lab
