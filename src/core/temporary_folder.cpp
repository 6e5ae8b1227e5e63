#include "core/temporary_folder.hpp"

#include "core/sentence.hpp"

#include <stdlib.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>

namespace isomer::core {

TemporaryFolder::TemporaryFolder(std::string_view who, std::string_view name, const std::filesystem::path& in)
    : maker_(::getpid()) {
  const auto refuse = [&](const std::string& reason) {
    fail(ErrorCode::io, who, ": no folder for temporary files can be made: ", reason,
         in.empty() ? "; set TMPDIR to a folder that can be written" : "");
  };
  std::error_code error;
  const std::filesystem::path folder = in.empty() ? std::filesystem::temp_directory_path(error) : in;
  if (error) refuse(error.message());
  std::string pattern = (folder / say("isomer-", name, "-XXXXXX")).string();
  if (::mkdtemp(pattern.data()) == nullptr) refuse(say("'", pattern, "': ", std::strerror(errno)));
  path_ = pattern;
}

TemporaryFolder::~TemporaryFolder() {
  std::error_code none;
  // It is still in use where this is a child that was forked off.
  if (maker_ == ::getpid()) std::filesystem::remove_all(path_, none);
}

}  // namespace isomer::core
