// SPDX-License-Identifier: Apache-2.0
#include "takt/shim/attempt.h"

#include "takt/base/value.h"

namespace takt::shim {
namespace {

constexpr std::int64_t kFormat = 1;
constexpr std::int64_t kGraceMsDefault = 5000;

std::vector<std::string> texts_of(const Value& list) {
  std::vector<std::string> texts;
  if (!list.is_array()) return texts;
  for (const Value& item : list.as_array())
    if (item.is_string()) texts.push_back(item.as_string());
  return texts;
}

void read_isolation(const Value& json, AttemptSpec& spec) {
  const Value& user = json["user"];
  if (user.is_object()) {
    spec.change_user = true;
    spec.uid = static_cast<uid_t>(user.int_or("uid", 0));
    spec.gid = static_cast<gid_t>(user.int_or("gid", 0));
  }
  const Value& isolation = json["isolation"];
  const std::string kind = isolation.text_or("kind", "none");
  spec.own_mounts = kind == "namespace";
  spec.wrapped = kind == "bubblewrap";
  spec.hidden = texts_of(isolation["hidden"]);
  const Value& visible = isolation["visible"];
  if (!visible.is_array()) return;
  for (const Value& item : visible.as_array())
    spec.visible.push_back({item.text_or("path", ""), item.bool_or("read_only", true)});
}

}  // namespace

Result<AttemptSpec> parse_attempt_spec(std::string_view text) {
  TAKT_ASSIGN(const Value json, parse_json(text).transform_error(while_("spec.json")));
  if (json.int_or("format", 0) != kFormat)
    return fail(Code::kInvalid,
                "spec.json: format must be 1, got " + std::to_string(json.int_or("format", 0)));
  AttemptSpec spec;
  spec.job = json.int_or("job", 0);
  spec.attempt = json.int_or("attempt", 0);
  spec.token = json.text_or("token", "");
  spec.command = texts_of(json["command"]);
  spec.folder = json.text_or("folder", "");
  spec.environment = texts_of(json["environment"]);
  spec.timeout_ms = json.int_or("timeout_ms", 0);
  spec.grace_ms = json.int_or("grace_ms", kGraceMsDefault);
  spec.oom_score_adj = json.int_or("oom_score_adj", 500);
  read_isolation(json, spec);
  const Value& cgroups = json["cgroups"];
  spec.cgroups = texts_of(cgroups["enter"]);
  spec.cgroup_kill = cgroups.text_or("kill", "");
  spec.cgroup_memory = cgroups.text_or("memory", "");
  spec.cgroup_shim = cgroups.text_or("shim", "");
  if (spec.command.empty()) return fail(Code::kInvalid, "spec.json: command is empty");
  if (spec.token.empty()) return fail(Code::kInvalid, "spec.json: token is empty");
  if (!spec.folder.starts_with('/'))
    return fail(Code::kInvalid, "spec.json: folder must be absolute, got '" + spec.folder + "'");
  return spec;
}

std::string render_exit_record(const ExitRecord& record) {
  Object json{{"format", kFormat},
              {"token", record.token},
              {"code", record.code},
              {"signal", record.signal},
              {"oom", record.oom},
              {"timeout", record.timeout},
              {"stopped", record.stopped},
              {"started_ms", record.started_ms},
              {"ended_ms", record.ended_ms},
              {"cpu_ms", record.cpu_ms},
              {"memory_bytes_peak", record.memory_bytes_peak}};
  if (!record.launch_error.empty()) json["launch_error"] = record.launch_error;
  return dump_json(Value(std::move(json))) + "\n";
}

std::int64_t parse_stop_grace_ms(std::string_view text) {
  const Result<Value> json = parse_json(text);
  const std::int64_t grace = json ? json->int_or("grace_ms", kGraceMsDefault) : kGraceMsDefault;
  return grace < 0 ? 0 : grace;
}

}  // namespace takt::shim
