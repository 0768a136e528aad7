// SPDX-License-Identifier: Apache-2.0
#include "takt/spine/go.h"

#include "takt/net/http.h"

namespace takt::spine {

namespace {

/// As the console writes its addresses: `@` may stand in a path, and reads better than %40.
std::string encode_path(std::string_view text) {
  std::string path = net::percent_encode(text, /*keep_slash=*/true);
  for (auto at = path.find("%40"); at != std::string::npos; at = path.find("%40", at))
    path.replace(at, 3, "@");
  return path;
}

}  // namespace

std::string console_path(const Ref& ref) {
  const std::string path = encode_path(ref.path);
  if (ref.kind == "dataset") return "/data/" + path;
  if (ref.kind == "job") return "/jobs/" + path;
  if (ref.kind == "run") return "/runs/" + path;
  if (ref.kind == "model") return "/models/" + path;
  if (ref.kind == "service") return "/services/" + path;
  if (ref.kind == "pipeline" || ref.kind == "pipeline-run") return "/pipelines/" + path;
  if (ref.kind == "revision" || ref.kind == "node") {
    const auto slash = path.rfind('/');
    const std::string head = path.substr(0, slash);
    const std::string tail = slash == std::string::npos ? "" : path.substr(slash + 1);
    return ref.kind == "node" ? "/pipelines/" + head + "?node=" + tail
                              : "/services/" + head + "/revisions/" + tail;
  }
  return "/why/" + encode_path(ref.text());
}

}  // namespace takt::spine
