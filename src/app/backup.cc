// SPDX-License-Identifier: Apache-2.0
#include "takt/app/backup.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <functional>
#include <vector>

#include "takt/base/file.h"
#include "takt/base/log.h"

namespace takt::app {
namespace {

namespace fs = std::filesystem;

/// What a backup holds of attempts besides the database. Their work folders are left out: code and
/// inputs are content already.
constexpr std::array<std::string_view, 2> kJobFiles = {"stdout.log", "exit.json"};
constexpr std::int64_t kCheckMsMax = 3'600'000;

struct CopyOptions {
  /// Of a path below the copied folder; a folder that is not wanted is not entered.
  std::function<bool(const fs::path& relative, bool is_folder)> is_wanted;
  /// Folders that a job closed to the server's user are left out, and told of.
  bool may_skip_denied = false;
};

Status copy_file_durably(const fs::path& from, const fs::path& to, std::int64_t& bytes) {
  TAKT_RETURN_IF_ERROR(make_dirs(to.parent_path()));
  std::error_code error;
  fs::copy_file(from, to, error);
  if (error == std::errc::no_such_file_or_directory) return {};  // swept while we walked
  if (error) return fail(errno_error("copying " + from.string(), error.value()));
  const Fd file(::open(to.c_str(), O_RDONLY | O_CLOEXEC));
  if (!file || ::fsync(file.get()) != 0) return fail(errno_error("writing " + to.string(), errno));
  bytes += static_cast<std::int64_t>(fs::file_size(to, error));
  return {};
}

/// Copies the tree `from`/`below`. What vanishes meanwhile is passed over: the server goes on;
/// what cannot be read is an error: a copy that misses something is none.
class FolderCopy {
 public:
  FolderCopy(fs::path from, fs::path to, const CopyOptions& options, std::int64_t& bytes)
      : from_(std::move(from)), to_(std::move(to)), options_(options), bytes_(bytes) {}

  Status copy(const fs::path& below = {}) {
    const fs::path folder = from_ / below;
    std::error_code error;
    fs::directory_iterator at(folder, error);
    if (error == std::errc::no_such_file_or_directory) return {};
    if (error == std::errc::permission_denied && options_.may_skip_denied) {
      log_warn("a folder is left out of the backup", {{"folder", folder.string()}});
      return {};
    }
    for (; !error && at != fs::directory_iterator(); at.increment(error))
      TAKT_RETURN_IF_ERROR(copy_one(*at, below / at->path().filename()));
    if (error) return fail(errno_error("reading the folder " + folder.string(), error.value()));
    if (fs::exists(to_ / below, error)) return sync_dir(to_ / below);
    return {};
  }

 private:
  Status copy_one(const fs::directory_entry& entry, const fs::path& relative) {
    std::error_code error;
    const fs::file_status status = entry.symlink_status(error);
    if (status.type() == fs::file_type::not_found) return {};
    if (error) return fail(errno_error("reading " + entry.path().string(), error.value()));
    const bool is_folder = fs::is_directory(status);
    if (!is_folder && !fs::is_regular_file(status)) return {};
    if (!options_.is_wanted(relative, is_folder)) return {};
    if (is_folder) return copy(relative);
    return copy_file_durably(entry.path(), to_ / relative, bytes_);
  }

  const fs::path from_, to_;
  const CopyOptions& options_;
  std::int64_t& bytes_;
};

/// N/checkpoint whole, and of N/attempts/M the log and the exit record.
bool is_kept_of_jobs(const fs::path& relative, bool is_folder) {
  const std::vector<fs::path> parts(relative.begin(), relative.end());
  if (parts.size() >= 2 && parts[1] == "checkpoint") return true;
  if (is_folder) return parts.size() <= 3;
  return std::ranges::find(kJobFiles, parts.back().string()) != kJobFiles.end();
}

Status write_backup(store::Database& db, const fs::path& data_dir, const fs::path& to,
                    std::int64_t& bytes) {
  TAKT_RETURN_IF_ERROR(make_dirs(to, 0700));
  TAKT_RETURN_IF_ERROR(db.backup_to((to / "takt.db").string()));
  const CopyOptions blobs{.is_wanted = [](const fs::path& path, bool) { return path != "tmp"; }};
  TAKT_RETURN_IF_ERROR(FolderCopy(data_dir / "blobs", to / "blobs", blobs, bytes).copy());
  const CopyOptions jobs{.is_wanted = is_kept_of_jobs, .may_skip_denied = true};
  TAKT_RETURN_IF_ERROR(FolderCopy(data_dir / "jobs", to / "jobs", jobs, bytes).copy());
  std::error_code error;
  if (fs::exists(data_dir / "admin-token", error))
    TAKT_RETURN_IF_ERROR(copy_file_durably(data_dir / "admin-token", to / "admin-token", bytes));
  bytes += static_cast<std::int64_t>(fs::file_size(to / "takt.db", error));
  return sync_dir(to);
}

/// A copy that was cut short, or that lay on a bad disk, is found before a server works on it.
Status check_database(const fs::path& file) {
  TAKT_ASSIGN(const auto db, store::Database::open({.location = file.string()}, system_clock()));
  std::string verdict;
  const Deadline deadline = Deadline::after_ms(system_clock(), kCheckMsMax);
  TAKT_RETURN_IF_ERROR(db->read(deadline, [&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(const store::Rows rows, reader.query("PRAGMA quick_check(1)"));
    verdict = rows.at(0).text(0);
    return {};
  }));
  if (verdict == "ok") return {};
  return fail(Code::kInternal, "the database is damaged: " + verdict);
}

Status write_restored(const fs::path& backup, const fs::path& data_dir) {
  std::int64_t bytes = 0;
  TAKT_RETURN_IF_ERROR(make_dirs(data_dir, 0700));
  const CopyOptions all{.is_wanted = [](const fs::path&, bool) { return true; }};
  TAKT_RETURN_IF_ERROR(FolderCopy(backup, data_dir, all, bytes).copy());
  return check_database(data_dir / "takt.db");
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
  if (Status written = write_backup(db, data_dir, unfinished, backup.bytes); !written) {
    (void)remove_tree(unfinished);  // it would only take up the disk
    return fail(while_("making a backup")(std::move(written).error()));
  }
  std::error_code error;
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
  if (Status written = write_restored(backup, data_dir); !written) {
    (void)remove_tree(data_dir);  // it was empty: another try begins like the first
    return fail(while_("restoring " + backup.string())(std::move(written).error()));
  }
  return {};
}

}  // namespace takt::app
