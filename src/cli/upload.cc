// SPDX-License-Identifier: Apache-2.0
#include "takt/cli/upload.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <set>

#include "takt/base/file.h"
#include "takt/cli/output.h"
#include "takt/content/pack.h"

namespace takt::cli {
namespace {

constexpr std::size_t kBatchFiles = 5000;
constexpr std::int64_t kBatchBytes = content::kPackBytesMax / 2;

/// Small files read and hashed, waiting to hear which of them the server lacks.
struct Batch {
  std::vector<std::pair<Digest, std::string>> small;
  std::vector<std::pair<Digest, content::SourceFile>> large;
  std::int64_t bytes = 0;
};

class Uploader {
 public:
  Uploader(Session& session, Progress& progress) : session_(session), progress_(progress) {}

  Result<content::Entry> take(const content::SourceFile& file) {
    content::Entry entry;
    if (file.size <= content::kPackedObjectBytesMax) {
      std::string bytes;
      TAKT_ASSIGN(entry, content::read_and_hash(file, &bytes));
      batch_.bytes += entry.size;
      batch_.small.emplace_back(entry.digest, std::move(bytes));
    } else {
      TAKT_ASSIGN(entry, content::hash_file(file));
      batch_.large.emplace_back(entry.digest, file);
    }
    progress_.add(entry.size);
    const bool is_full =
        batch_.bytes >= kBatchBytes || batch_.small.size() + batch_.large.size() >= kBatchFiles;
    if (is_full) TAKT_RETURN_IF_ERROR(flush());
    return entry;
  }

  Status flush() {
    std::set<std::string> digests;
    for (const auto& [digest, bytes] : batch_.small) digests.insert(digest.value);
    for (const auto& [digest, file] : batch_.large) digests.insert(digest.value);
    if (digests.empty()) return {};
    TAKT_ASSIGN(std::set<std::string> missing, ask_missing(digests));
    content::PackWriter pack;
    for (const auto& [digest, bytes] : batch_.small) {
      if (missing.erase(digest.value) == 0) continue;
      pack.add(digest, bytes);
      sent_ += static_cast<std::int64_t>(bytes.size());
    }
    if (!pack.empty()) TAKT_RETURN_IF_ERROR(send_pack(pack.finish()));
    for (const auto& [digest, file] : batch_.large)
      if (missing.erase(digest.value) != 0) TAKT_RETURN_IF_ERROR(send_file(digest, file));
    batch_ = Batch{};
    return {};
  }
  std::int64_t sent() const { return sent_; }

 private:
  Result<std::set<std::string>> ask_missing(const std::set<std::string>& digests) {
    Array asked;
    for (const std::string& digest : digests) asked.push_back(digest);
    TAKT_ASSIGN(const Value answer,
                session_.post("/api/v1/blobs/missing", Object{{"digests", std::move(asked)}}));
    std::set<std::string> missing;
    for (const Value& digest : answer["missing"].as_array()) missing.insert(digest.as_string());
    return missing;
  }

  Status send_pack(std::string pack) {
    TAKT_ASSIGN(
        const auto response,
        session_.client().send(net::Method::kPost, session_.with_project("/api/v1/blobs/packs"),
                               std::move(pack), "application/octet-stream"));
    if (response.status >= 400) return fail(net::error_from_response(response));
    return {};
  }

  Status send_file(const Digest& digest, const content::SourceFile& file) {
    const Fd fd(::open(file.source.c_str(), O_RDONLY | O_CLOEXEC));
    if (!fd) return fail(errno_error("opening " + file.source.string(), errno));
    TAKT_ASSIGN(const auto response,
                session_.client().upload(
                    net::Method::kPut, session_.with_project("/api/v1/blobs/" + digest.value),
                    file.size, [&](std::span<char> out) -> Result<std::size_t> {
                      const auto got = ::read(fd.get(), out.data(), out.size());
                      if (got < 0)
                        return fail(errno_error("reading " + file.source.string(), errno));
                      return static_cast<std::size_t>(got);
                    }));
    if (response.status >= 400) return fail(net::error_from_response(response));
    sent_ += file.size;
    return {};
  }

  Session& session_;
  Progress& progress_;
  Batch batch_;
  std::int64_t sent_ = 0;
};

}  // namespace

Result<Digest> upload_bytes(Session& session, const std::string& bytes) {
  const Digest digest = sha256(bytes);
  TAKT_ASSIGN(const auto response,
              session.client().send(net::Method::kPut,
                                    session.with_project("/api/v1/blobs/" + digest.value), bytes,
                                    "application/octet-stream"));
  if (response.status >= 400) return fail(net::error_from_response(response));
  return digest;
}

Result<Uploaded> upload_files(Session& session, const std::vector<content::SourceFile>& files,
                              const std::string& what) {
  Uploaded result;
  for (const auto& file : files) result.bytes += file.size;
  Progress progress(what, result.bytes);
  Uploader uploader(session, progress);
  std::vector<content::Entry> entries;
  for (const auto& file : files) {
    TAKT_ASSIGN(content::Entry entry, uploader.take(file));
    entries.push_back(std::move(entry));
  }
  TAKT_RETURN_IF_ERROR(uploader.flush());
  TAKT_ASSIGN(const content::Manifest manifest, content::make_manifest(std::move(entries)));
  TAKT_ASSIGN(result.tree, upload_bytes(session, content::render_manifest(manifest)));
  result.files = static_cast<std::int64_t>(manifest.entries.size());
  result.sent_bytes = uploader.sent();
  return result;
}

Result<std::vector<content::SourceFile>> collect(const std::vector<std::string>& paths) {
  std::vector<content::SourceFile> files;
  for (const std::string& path : paths) {
    TAKT_ASSIGN(auto found, content::walk(path, {}));
    const bool is_folder = std::filesystem::is_directory(path);
    if (is_folder && found.empty())
      return fail(Code::kInvalid, "the folder '" + path + "' holds no files");
    if (is_folder && paths.size() > 1) {
      const std::string prefix = std::filesystem::weakly_canonical(path).filename().string() + "/";
      for (auto& file : found) file.path = prefix + file.path;
    }
    files.insert(files.end(), found.begin(), found.end());
  }
  std::ranges::sort(files, {}, &content::SourceFile::path);
  return files;
}

}  // namespace takt::cli
