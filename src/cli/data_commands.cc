// SPDX-License-Identifier: Apache-2.0
// takt data add | ls | show | diff | get | rm
#include <CLI/CLI.hpp>
#include <fcntl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>

#include "takt/base/file.h"
#include "takt/base/units.h"
#include "takt/cli/command.h"
#include "takt/cli/output.h"
#include "takt/cli/upload.h"
#include "takt/content/snapshot.h"

namespace takt::cli {
namespace {

namespace fs = std::filesystem;

std::string size_text(const Value& version) {
  const auto counted = [&](const char* key, const std::string& word) {
    return cell(version, key) + " " + word + (version.int_or(key, 0) == 1 ? "" : "s");
  };
  return version.has("rows") ? counted("rows", "row") : counted("files", "file");
}

Status data_add(Session& session, const std::string& name, const std::vector<std::string>& paths,
                const std::string& note) {
  TAKT_ASSIGN(const auto files, collect(paths));
  TAKT_ASSIGN(const Uploaded uploaded, upload_files(session, files, "adding " + name));
  TAKT_ASSIGN(const Value version,
              session.post("/api/v1/datasets/" + segment(name) + "/versions",
                           Object{{"tree", uploaded.tree.value}, {"note", note}}));
  if (session.json()) {
    print_json(version);
    return {};
  }
  print_line(cell(version, "ref").substr(8) + "  " + size_text(version) + ", " +
             format_bytes(uploaded.bytes) + " (" + format_bytes(uploaded.sent_bytes) +
             " new to the server)");
  if (!version["profile"]["tables"].is_array()) return {};
  for (const Value& table : version["profile"]["tables"].as_array())
    if (table.has("problem"))
      print_line("  warning: " + cell(table, "path") +
                 " is kept as it is, but not as a table: " + cell(table, "problem"));
  return {};
}

Status data_ls(Session& session, const std::string& name) {
  const std::string path =
      name.empty() ? "/api/v1/datasets" : "/api/v1/datasets/" + segment(name) + "/versions";
  TAKT_ASSIGN(const Value answer, session.get(path));
  if (session.json()) {
    print_json(answer);
    return {};
  }
  Table table(name.empty() ? std::vector<std::string>{"NAME", "LATEST", "VERSIONS", "UPDATED"}
                           : std::vector<std::string>{"VERSION", "CONTENT", "SIZE", "ADDED", "BY",
                                                      "MADE BY", "NOTE"});
  for (const Value& item : answer["items"].as_array()) {
    if (name.empty())
      table.add({cell(item, "name"), cell(item, "latest"), cell(item, "versions"),
                 short_time(cell(item, "updated_at"))});
    else
      table.add({cell(item, "ref").substr(8), size_text(item),
                 format_bytes(item.int_or("size_bytes", 0)), short_time(cell(item, "created_at")),
                 cell(item, "created_by"), cell(item, "made_by"), cell(item, "note")});
  }
  if (table.empty())
    print_line("no datasets yet; add one with `takt data add NAME PATH`");
  else
    table.print();
  return {};
}

void print_profile(const Value& profile) {
  for (const Value& table : profile["tables"].as_array()) {
    print_line("");
    print_line(cell(table, "path") + ": " + cell(table, "rows") + " rows");
    if (table.has("problem")) print_line("  not profiled: " + cell(table, "problem"));
    Table columns({"COLUMN", "TYPE", "MISSING", "DISTINCT", "MIN", "MEAN", "MAX"});
    for (const Value& column : table["columns"].as_array())
      columns.add({cell(column, "name"), cell(column, "type"), cell(column, "missing"),
                   cell(column, "distinct"), short_number(column["min"]),
                   short_number(column["mean"]), short_number(column["max"])});
    if (!columns.empty()) columns.print();
  }
  if (!profile.has("class_balance")) return;
  std::string line = "classes of " + cell(profile["class_balance"], "column") + ":";
  for (const Value& one : profile["class_balance"]["classes"].as_array())
    line += " " + cell(one, "value") + "×" + cell(one, "count");
  print_line("");
  print_line(line);
}

Status data_show(Session& session, const std::string& reference, bool with_files) {
  TAKT_ASSIGN(const std::string path, version_path(reference));
  TAKT_ASSIGN(const Value version, session.get("/api/v1/datasets/" + path));
  if (with_files) {
    TAKT_ASSIGN(const Value files, session.get("/api/v1/datasets/" + path + "/files?limit=10000"));
    if (session.json()) {
      print_json(files);
      return {};
    }
    Table table({"PATH", "SIZE", "SHA-256"});
    for (const Value& file : files["items"].as_array())
      table.add({cell(file, "path"), format_bytes(file.int_or("size_bytes", 0)),
                 cell(file, "digest").substr(0, 12)});
    table.print();
    return {};
  }
  if (session.json()) {
    print_json(version);
    return {};
  }
  print_line(cell(version, "ref").substr(8) + "  added by " + cell(version, "created_by") + " " +
             short_time(cell(version, "created_at")));
  print_line("  tree   " + cell(version, "tree"));
  print_line("  files  " + cell(version, "files") + ", " +
             format_bytes(version.int_or("size_bytes", 0)));
  if (version.has("made_by")) print_line("  made by " + cell(version, "made_by"));
  if (version["checks"].is_object())
    print_line(version["checks"].bool_or("passed", false) ? "  checks pass" : "  checks FAIL");
  if (version["profile"].is_object()) print_profile(version["profile"]);
  return {};
}

Status data_diff(Session& session, const std::string& a, const std::string& b) {
  TAKT_ASSIGN(const VersionSelector from, parse_version_selector(a));
  TAKT_ASSIGN(const VersionSelector to, parse_version_selector(b));
  if (from.name != to.name || from.number == 0 || to.number == 0)
    return fail(Code::kInvalid, "'" + a + "' and '" + b + "' are not two versions of one dataset",
                "write takt data diff NAME@1 NAME@2");
  TAKT_ASSIGN(const Value diff, session.get("/api/v1/datasets/" + segment(from.name) +
                                            "/diff?from=" + std::to_string(from.number) +
                                            "&to=" + std::to_string(to.number)));
  if (session.json()) {
    print_json(diff);
    return {};
  }
  for (const Value& file : diff["files"]["removed"].as_array())
    print_line("- " + cell(file, "path"));
  for (const Value& file : diff["files"]["added"].as_array()) print_line("+ " + cell(file, "path"));
  for (const Value& file : diff["files"]["changed"].as_array())
    print_line("~ " + cell(file, "path"));
  for (const Value& table : diff["rows"].as_array()) {
    print_line("");
    print_line(cell(table, "path") + ": " + cell(table, "removed") + " rows removed, " +
               cell(table, "added") + " added");
    for (const Value& row : table["removed_rows"].as_array()) print_line("- " + row.as_string());
    for (const Value& row : table["added_rows"].as_array()) print_line("+ " + row.as_string());
  }
  return {};
}

/// A response body written to a descriptor; a server's error comes back as Error.
Status download_to(Session& session, const std::string& path, int fd) {
  Status written;
  TAKT_ASSIGN(const int status,
              session.client().download(session.with_project(path), [&](std::string_view bytes) {
                written = write_all(fd, bytes);
                return written.has_value();
              }));
  TAKT_RETURN_IF_ERROR(written);
  if (status >= 400)
    return fail(Code::kInternal, "GET " + path + " answered " + std::to_string(status));
  return {};
}

Result<content::Manifest> tree_of(Session& session, const std::string& tree) {
  TAKT_ASSIGN(
      const auto response,
      session.client().send(net::Method::kGet, session.with_project("/api/v1/blobs/" + tree)));
  if (response.status >= 400) return fail(net::error_from_response(response));
  return content::parse_manifest(response.body);
}

Status data_get(Session& session, const std::string& reference, const std::string& folder) {
  TAKT_ASSIGN(const std::string path, version_path(reference));
  TAKT_ASSIGN(const Value version, session.get("/api/v1/datasets/" + path));
  const std::string target = folder.empty() ? cell(version, "name") : folder;
  if (fs::exists(target) && !fs::is_empty(target))
    return fail(Code::kConflict, "'" + target + "' exists and is not empty", "name another folder");
  TAKT_ASSIGN(const content::Manifest manifest, tree_of(session, cell(version, "tree")));
  Progress progress("getting " + reference, manifest.total_bytes());
  std::map<std::string, std::string> names;
  for (const auto& entry : manifest.entries) names[entry.digest.value] = entry.path;
  TAKT_RETURN_IF_ERROR(
      content::materialize(manifest, target, false, [&](const Digest& digest, int fd) -> Status {
        const std::string from = "/api/v1/datasets/" + path + "/content/" +
                                 net::percent_encode(names[digest.value], true);
        TAKT_RETURN_IF_ERROR(download_to(session, from, fd));
        progress.add(::lseek(fd, 0, SEEK_CUR));
        return {};
      }));
  if (session.json())
    print_json(version);
  else
    print_line(cell(version, "ref").substr(8) + "  " + cell(version, "files") + " files in " +
               target);
  return {};
}

Status data_rm(Session& session, const std::string& reference, bool force) {
  TAKT_ASSIGN(const VersionSelector selector, parse_version_selector(reference));
  if (selector.number == 0)
    return fail(Code::kInvalid, "'" + reference + "' names no version",
                "write NAME@N: versions go one at a time");
  TAKT_ASSIGN(const std::string path, version_path(reference));
  TAKT_RETURN_IF_ERROR(session.del("/api/v1/datasets/" + path + (force ? "?force=true" : "")));
  if (session.json())
    print_json(Object{{"removed", reference}});
  else
    print_line("removed " + reference);
  return {};
}

}  // namespace

void add_data_commands(CLI::App& app, Chosen& chosen) {
  struct Options {
    std::string name, other, note, folder;
    std::vector<std::string> paths;
    bool force = false, files = false;
  };
  const auto o = std::make_shared<Options>();
  auto* data = app.add_subcommand("data", "datasets and their versions");
  data->require_subcommand(1);
  auto* add = data->add_subcommand("add", "add files or folders as a new version");
  add->add_option("name", o->name, "dataset")->required();
  add->add_option("paths", o->paths, "files and folders")->required();
  add->add_option("--note", o->note, "what is new in it");
  declare(add, chosen, [o](Session& s) { return data_add(s, o->name, o->paths, o->note); });
  auto* ls = data->add_subcommand("ls", "list datasets, or the versions of one");
  ls->add_option("name", o->name, "dataset");
  declare(ls, chosen, [o](Session& s) { return data_ls(s, o->name); });
  auto* show = data->add_subcommand("show", "show a version and its profile");
  show->add_option("version", o->name, "NAME or NAME@N")->required();
  show->add_flag("--files", o->files, "list its files");
  declare(show, chosen, [o](Session& s) { return data_show(s, o->name, o->files); });
  auto* diff = data->add_subcommand("diff", "what changed between two versions");
  diff->add_option("from", o->name, "NAME@N")->required();
  diff->add_option("to", o->other, "NAME@N")->required();
  declare(diff, chosen, [o](Session& s) { return data_diff(s, o->name, o->other); });
  auto* get = data->add_subcommand("get", "write a version's files to a folder");
  get->add_option("version", o->name, "NAME or NAME@N")->required();
  get->add_option("folder", o->folder, "default: the dataset's name");
  declare(get, chosen, [o](Session& s) { return data_get(s, o->name, o->folder); });
  auto* rm = data->add_subcommand("rm", "remove a version");
  rm->add_option("version", o->name, "NAME@N")->required();
  rm->add_flag("--force", o->force, "also when something was made of it");
  declare(rm, chosen, [o](Session& s) { return data_rm(s, o->name, o->force); });
}

}  // namespace takt::cli
