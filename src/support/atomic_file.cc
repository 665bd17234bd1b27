#include "support/atomic_file.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>

namespace loopfold {

namespace {

/// Closes and forgets.
class File {
 public:
  File(const std::string& path, int flags) : fd_(::open(path.c_str(), flags | O_WRONLY | O_CLOEXEC, 0666)) {}
  ~File() {
    if (fd_ >= 0) ::close(fd_);
  }
  File(const File&) = delete;
  File& operator=(const File&) = delete;

  bool is_open() const { return fd_ >= 0; }

  bool write(std::string_view text) const {
    while (!text.empty()) {
      const ssize_t written = ::write(fd_, text.data(), text.size());
      if (written < 0 && errno == EINTR) continue;
      if (written < 0) return false;
      text.remove_prefix(static_cast<std::size_t>(written));
    }
    return true;
  }

  /// Delayed errors of the file system come out here.
  bool close() {
    const int fd = fd_;
    fd_ = -1;
    return ::close(fd) == 0;
  }

 private:
  int fd_;
};

/// Links are followed: what they point to is replaced, not the link.
std::string real_path(const std::string& path) {
  char* const resolved = ::realpath(path.c_str(), nullptr);
  if (resolved == nullptr) return path;
  const std::string text = resolved;
  std::free(resolved);
  return text;
}

bool write_directly(const std::string& path, std::string_view text) {
  File file(path, 0);
  return file.is_open() && file.write(text) && file.close();
}

bool write_and_rename(const std::string& path, std::string_view text) {
  const std::string temporary = fmt::format("{}.{}.tmp", path, ::getpid());
  File file(temporary, O_CREAT | O_TRUNC);
  if (!file.is_open()) return false;
  if (file.write(text) && file.close() && std::rename(temporary.c_str(), path.c_str()) == 0) return true;
  const int error = errno;
  ::unlink(temporary.c_str());
  errno = error;
  return false;
}

}  // namespace

Result<void> write_whole_file(const std::string& path, std::string_view text) {
  struct stat info {};
  const bool special = ::stat(path.c_str(), &info) == 0 && !S_ISREG(info.st_mode);
  if (special ? write_directly(path, text) : write_and_rename(real_path(path), text)) return {};
  return fail(ErrorKind::kEnvironment, fmt::format("{}: cannot be written: {}", path, std::strerror(errno)));
}

}  // namespace loopfold
