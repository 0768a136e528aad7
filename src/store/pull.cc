// SPDX-License-Identifier: Apache-2.0
#include "takt/store/pull.h"

#include <algorithm>
#include <memory>

namespace takt::store {
namespace {

class BlobPull {
 public:
  BlobPull(BlobStore& blobs, ProjectId project, Digest digest, std::int64_t size)
      : blobs_(blobs), project_(std::move(project)), digest_(std::move(digest)), size_(size) {}

  Result<std::size_t> next(std::span<char> out) {
    const std::int64_t want = std::min(static_cast<std::int64_t>(out.size()), size_ - offset_);
    if (want == 0) return std::size_t{0};
    std::size_t got = 0;
    TAKT_RETURN_IF_ERROR(
        blobs_.read(project_, digest_, offset_, want, [&](std::string_view part) -> Status {
          std::ranges::copy(part, out.begin() + static_cast<std::ptrdiff_t>(got));
          got += part.size();
          return {};
        }));
    hash_.update(std::string_view(out.data(), got));
    offset_ += static_cast<std::int64_t>(got);
    if (offset_ == size_ && hash_.finish() != digest_)
      return fail(Code::kInternal,
                  "corrupted blob " + digest_.value + ": the bytes have another digest");
    return got;
  }

 private:
  BlobStore& blobs_;
  const ProjectId project_;
  const Digest digest_;
  const std::int64_t size_;
  std::int64_t offset_ = 0;
  Sha256 hash_;
};

}  // namespace

ReadBytes pull_blob(BlobStore& blobs, const ProjectId& project, const Digest& digest,
                    std::int64_t size) {
  return [pull = std::make_shared<BlobPull>(blobs, project, digest, size)](std::span<char> out) {
    return pull->next(out);
  };
}

}  // namespace takt::store
