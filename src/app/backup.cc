// SPDX-License-Identifier: Apache-2.0
#include "takt/app/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>

#include "takt/base/file.h"

namespace takt::app {
namespace {

namespace fs = std::filesystem;

/// What a backup holds besides the database. Attempts' work folders are left out: their code and
/// inputs are content already.
constexpr std::array<std::string_view, 2> kJobFiles = {"stdout.log", "exit.json"};

Status copy_file_durably(const fs::path& from, const fs::path& to, std::int64_t& bytes) {
  TAKT_RETURN_IF_ERROR(make_dirs(to.parent_path()));
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error == std::errc::no_such_file_or_directory) return {};  // swept while we walked
  if (error) return fail(Code::kInternal, "copying " + from.string() + ": " + error.message());
  const Fd file(::open(to.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return fail(errno_error("writing " + to.string(), errno));
  bytes += static_cast<std::int64_t>(fs::file_size(to, error));
  return {};
}

Status copy_folder(const fs::path& from, const fs::path& to, std::int64_t& bytes,
                   const std::function<bool(const fs::path&)>& wanted) {
  std::error_code error;
  auto at =
      fs::recursive_directory_iterator(from, fs::directory_options::skip_permission_denied, error);
  for (; !error && at != fs::recursive_directory_iterator(); at.increment(error)) {
    if (at->is_symlink(error) || !at->is_regular_file(error) || !wanted(at->path())) continue;
    TAKT_RETURN_IF_ERROR(copy_file_durably(at->path(), to / fs::relative(at->path(), from), bytes));
  }
  return {};
}

bool is_kept_job_file(const fs::path& path) {
  const std::string name = path.filename().string();
  const bool is_checkpoint = path.string().find("/checkpoint/") != std::string::npos;
  return is_checkpoint || std::ranges::find(kJobFiles, name) != kJobFiles.end();
}

std::string folder_name(UnixMs time_ms) {
  std::string name = format_time(time_ms);
  std::erase(name, ':');
  return name;
}

}  // namespace

Result<Backup> make_backup(store::Database& db, const fs::path& data_dir) {
  Backup backup;
  backup.created_ms = db.clock().now_ms();
  backup.path = data_dir / "backups" / folder_name(backup.created_ms);
  const fs::path unfinished = backup.path.string() + ".unfinished";
  TAKT_RETURN_IF_ERROR(remove_tree(unfinished));
  TAKT_RETURN_IF_ERROR(make_dirs(unfinished, 0700));
  TAKT_RETURN_IF_ERROR(db.backup_to((unfinished / "takt.db").string()));
  TAKT_RETURN_IF_ERROR(copy_folder(
      data_dir / "blobs", unfinished / "blobs", backup.bytes,
      [](const fs::path& path) { return path.string().find("/blobs/tmp/") == std::string::npos; }));
  TAKT_RETURN_IF_ERROR(
      copy_folder(data_dir / "jobs", unfinished / "jobs", backup.bytes, is_kept_job_file));
  std::error_code error;
  if (fs::exists(data_dir / "admin-token", error))
    TAKT_RETURN_IF_ERROR(
        copy_file_durably(data_dir / "admin-token", unfinished / "admin-token", backup.bytes));
  backup.bytes += static_cast<std::int64_t>(fs::file_size(unfinished / "takt.db", error));
  TAKT_RETURN_IF_ERROR(sync_dir(unfinished));
  fs::rename(unfinished, backup.path, error);
  if (error)
    return fail(Code::kInternal,
                "naming the backup " + backup.path.string() + ": " + error.message());
  TAKT_RETURN_IF_ERROR(sync_dir(backup.path.parent_path()));
  return backup;
}

Status restore_backup(const fs::path& backup, const fs::path& data_dir) {
  std::error_code error;
  if (!fs::exists(backup / "takt.db", error))
    return fail(Code::kNotFound, backup.string() + " is no backup: it holds no takt.db",
                "name a folder that `takt backup` printed");
  if (fs::exists(data_dir, error) && !fs::is_empty(data_dir, error))
    return fail(Code::kConflict, data_dir.string() + " is not empty",
                "name a new folder with --data-dir, or move the old one away");
  std::int64_t bytes = 0;
  TAKT_RETURN_IF_ERROR(make_dirs(data_dir, 0700));
  TAKT_RETURN_IF_ERROR(copy_folder(backup, data_dir, bytes, [](const fs::path&) { return true; }));
  return sync_dir(data_dir);
}

}  // namespace takt::app
