// SPDX-License-Identifier: Apache-2.0
// walk of snapshot.h.
#include <dirent.h>
#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <system_error>

#include "takt/base/safe_path.h"
#include "takt/content/ignore.h"
#include "takt/content/snapshot.h"

namespace takt::content {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view kIgnoreFileName = ".taktignore";
constexpr std::size_t kIgnoreFileBytesMax = 1 << 20;

struct CloseFolder {
  void operator()(DIR* folder) const { ::closedir(folder); }
};

// Names of what lies in a folder.
Result<std::vector<std::string>> list_folder(const fs::path& folder) {
  const std::unique_ptr<DIR, CloseFolder> stream(::opendir(folder.c_str()));
  if (!stream) return fail(errno_error("opening the folder " + folder.string(), errno));
  std::vector<std::string> names;
  for (;;) {
    errno = 0;
    const dirent* item = ::readdir(stream.get());
    if (item == nullptr) break;
    const std::string_view name = item->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  if (errno != 0) return fail(errno_error("reading the folder " + folder.string(), errno));
  return names;
}

class Walker {
 public:
  Walker(const fs::path& root, const WalkOptions& options) : root_(root), options_(options) {}

  Result<std::vector<SourceFile>> walk_folder() {
    std::error_code error;
    real_root_ = fs::canonical(root_, error).string();
    if (error) return fail(errno_error("opening " + root_.string(), error.value()));
    if (options_.use_ignore_file) TAKT_RETURN_IF_ERROR(load_ignore_rules());
    struct stat info{};
    if (::stat(root_.c_str(), &info) != 0) return fail(errno_error(root_.string(), errno));
    TAKT_RETURN_IF_ERROR(enter_folder(root_, "", info));
    std::ranges::sort(files_, {}, &SourceFile::path);
    return std::move(files_);
  }

 private:
  struct FolderId {
    dev_t device;
    ino_t inode;
    bool operator==(const FolderId&) const = default;
  };

  Status load_ignore_rules() {
    const fs::path path = root_ / kIgnoreFileName;
    Result<std::string> text = read_file(path, kIgnoreFileBytesMax);
    if (text) rules_ = IgnoreRules::parse(*text);
    if (!text && text.error().code != Code::kNotFound) return fail(std::move(text).error());
    return {};
  }

  bool is_left_out(std::string_view path, std::string_view name, bool is_folder) const {
    if (!options_.use_ignore_file) return false;
    return name == ".git" || (is_folder && name == "__pycache__") ||
           rules_.is_ignored(path, is_folder);
  }

  // Only where the file is read is it a remedy.
  std::string or_ignored() const {
    return options_.use_ignore_file ? " or name it in " + std::string(kIgnoreFileName) : "";
  }

  Status enter_folder(const fs::path& folder, const std::string& path, const struct stat& info) {
    const FolderId id{info.st_dev, info.st_ino};
    if (std::ranges::find(open_folders_, id) != open_folders_.end()) {
      return fail(Code::kInvalid, "\"" + path + "\" is a symbolic link to a folder it lies in");
    }
    open_folders_.push_back(id);
    TAKT_ASSIGN(const std::vector<std::string> names, list_folder(folder));
    for (const std::string& name : names) {
      TAKT_RETURN_IF_ERROR(visit(folder / name, path.empty() ? name : path + "/" + name, name));
    }
    open_folders_.pop_back();
    return {};
  }

  Status visit(const fs::path& source, const std::string& path, const std::string& name) {
    struct stat info{};
    if (::lstat(source.c_str(), &info) != 0) {
      return fail(errno_error("reading " + source.string(), errno));
    }
    const bool is_link = S_ISLNK(info.st_mode);
    // As for git, a link counts as a file in the rules, whatever it leads to.
    if (is_left_out(path, name, S_ISDIR(info.st_mode))) return {};
    TAKT_RETURN_IF_ERROR(check_relative_path(path));
    if (is_link) TAKT_RETURN_IF_ERROR(follow_link(source, path, info));
    if (S_ISDIR(info.st_mode)) {
      TAKT_RETURN_IF_ERROR(count());
      return enter_folder(source, path, info);
    }
    return add_file(source, path, info);
  }

  // What a link inside the tree leads to, which has to lie in the tree as well.
  Status follow_link(const fs::path& source, const std::string& path, struct stat& info) {
    std::error_code error;
    const std::string target = fs::canonical(source, error).string();
    if (error) {
      return fail(Code::kInvalid, "\"" + path + "\" is a symbolic link that leads nowhere",
                  "remove it" + or_ignored());
    }
    const bool is_inside = target == real_root_ || real_root_ == "/" ||
                           (target.starts_with(real_root_) && target[real_root_.size()] == '/');
    if (!is_inside) {
      return fail(Code::kInvalid,
                  "\"" + path + "\" is a symbolic link that leaves the folder, to " + target,
                  "put a copy in its place" + or_ignored());
    }
    if (::stat(target.c_str(), &info) != 0) return fail(errno_error("reading " + target, errno));
    return {};
  }

  Status add_file(const fs::path& source, const std::string& path, const struct stat& info) {
    if (!S_ISREG(info.st_mode)) {
      const char* kind = S_ISSOCK(info.st_mode)   ? "a socket"
                         : S_ISFIFO(info.st_mode) ? "a pipe"
                                                  : "a device";
      return fail(Code::kInvalid, "\"" + path + "\" is " + kind + ", not a file",
                  "remove it" + or_ignored());
    }
    TAKT_RETURN_IF_ERROR(count());
    files_.push_back(SourceFile{source, path, static_cast<std::int64_t>(info.st_size),
                                (info.st_mode & S_IXUSR) != 0});
    return {};
  }

  // Folders count too, so that a tree of nothing but folders ends.
  Status count() {
    if (++count_ <= options_.files_max) return {};
    return fail(Code::kTooLarge, root_.string() + " holds more than " +
                                     std::to_string(options_.files_max) + " files and folders");
  }

  const fs::path& root_;
  const WalkOptions& options_;
  std::string real_root_;
  IgnoreRules rules_;
  std::vector<FolderId> open_folders_;  // from the root to where we are
  std::vector<SourceFile> files_;
  std::int64_t count_ = 0;
};

}  // namespace

Result<std::vector<SourceFile>> walk(const fs::path& root, const WalkOptions& options) {
  struct stat info{};
  if (::stat(root.c_str(), &info) != 0) return fail(errno_error("opening " + root.string(), errno));
  if (S_ISDIR(info.st_mode)) return Walker(root, options).walk_folder();
  if (!S_ISREG(info.st_mode)) {
    return fail(Code::kInvalid, root.string() + " is neither a file nor a folder");
  }
  const std::string name = root.filename().string();
  TAKT_RETURN_IF_ERROR(check_relative_path(name));
  return std::vector<SourceFile>{SourceFile{root, name, static_cast<std::int64_t>(info.st_size),
                                            (info.st_mode & S_IXUSR) != 0}};
}

}  // namespace takt::content
