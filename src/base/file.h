// SPDX-License-Identifier: Apache-2.0
// Files: durable writes, whole reads, descriptors that close themselves.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <utility>

#include "takt/base/error.h"

namespace takt {

/// Owns a file descriptor.
class Fd {
 public:
  Fd() = default;
  explicit Fd(int fd) : fd_(fd) {}
  ~Fd() { reset(); }
  Fd(Fd&& other) noexcept : fd_(std::exchange(other.fd_, -1)) {}
  Fd& operator=(Fd&& other) noexcept {
    if (this != &other) {
      reset();
      fd_ = std::exchange(other.fd_, -1);
    }
    return *this;
  }
  int get() const { return fd_; }
  explicit operator bool() const { return fd_ >= 0; }
  int release() { return std::exchange(fd_, -1); }
  void reset();

 private:
  int fd_ = -1;
};

/// Write-temp, fsync, rename, fsync-directory: after success the file survives a power cut.
Status write_file_durably(const std::filesystem::path& path, std::string_view bytes,
                          unsigned mode = 0644);
/// kTooLarge over the limit.
Result<std::string> read_file(const std::filesystem::path& path, std::size_t bytes_max = 64 << 20);
Status make_dirs(const std::filesystem::path& path, unsigned mode = 0755);
Status sync_dir(const std::filesystem::path& path);
Status remove_tree(const std::filesystem::path& path);
/// Writes all of it, retrying short writes. kExhausted when the disk is full.
Status write_all(int fd, std::string_view bytes);
/// Takes an exclusive lock on the file, creating it; kConflict when another process holds it.
Result<Fd> lock_file(const std::filesystem::path& path);
/// True when another process holds the lock.
bool is_locked(const std::filesystem::path& path);

}  // namespace takt
