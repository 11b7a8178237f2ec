// SPDX-License-Identifier: Apache-2.0
//
// A file by which a program says where it listens. Other programs may watch for the file, so it appears complete: it is
// written under another name first. Neither name may be a link: in a folder that others can write, a link would lead
// the program to any file of its user. Hot path: no. Threads: one.
#pragma once

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>
#include <cerrno>
#include <cstdio>
#include <cstring>

#include <string>
#include <string_view>

namespace weft::examples {

/// Writes `text` into the file `path`, which may exist. Returns the sentence of a failure, or nothing.
inline std::string announce(const std::string& path, std::string_view text) {
  const auto failed = [&path](int why) {
    return path + " cannot be written: " + std::strerror(why);  // NOLINT(concurrency-mt-unsafe): one thread
  };
  struct stat before {};
  if (::lstat(path.c_str(), &before) == 0 && !S_ISREG(before.st_mode))
    return path + " cannot be written: it is no regular file";
  const std::string draft = path + "." + std::to_string(::getpid()) + ".part";
  const int file = ::open(draft.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
  if (file < 0) return failed(errno);
  const ssize_t wrote = ::write(file, text.data(), text.size());
  int why = wrote < 0 ? errno : wrote == static_cast<ssize_t>(text.size()) ? 0 : ENOSPC;
  ::close(file);
  if (why == 0 && std::rename(draft.c_str(), path.c_str()) != 0) why = errno;
  if (why == 0) return {};
  ::unlink(draft.c_str());
  return failed(why);
}

}  // namespace weft::examples
