// SPDX-License-Identifier: Apache-2.0
#include "takt/services/publisher.h"

#include "takt/base/digest.h"
#include "takt/base/file.h"

namespace takt::services {
namespace {

constexpr std::size_t kTokenBytes = 32;

}  // namespace

Status Publisher::open(bool with_token) {
  TAKT_RETURN_IF_ERROR(make_dirs(folder_, 0700));
  if (const auto text = read_file(folder_ / "snapshot.json"))
    if (auto snapshot = gateway::parse_snapshot(*text)) last_ = std::move(*snapshot);
  std::vector<std::string> hashes;
  if (with_token) {
    TAKT_ASSIGN(const std::string token, keep_token());
    hashes.push_back(sha256(token).value);
  }
  has_new_tokens_ = hashes != last_.token_hashes;
  last_.token_hashes = std::move(hashes);
  return {};
}

Result<std::string> Publisher::keep_token() const {
  const std::filesystem::path path = folder_ / "service-token";
  auto token = read_file(path);
  if (!token && token.error().code != Code::kNotFound) return token;
  if (!token) {
    token = "takt_service_" + random_hex(kTokenBytes);
    TAKT_RETURN_IF_ERROR(write_file_durably(path, *token + "\n", 0600));
  }
  while (token->ends_with('\n')) token->pop_back();
  return token;
}

Status Publisher::write(std::vector<gateway::ServiceEntry> services) {
  if (last_.version > 0 && services == last_.services && !has_new_tokens_) return {};
  gateway::Snapshot next = last_;
  next.services = std::move(services);
  ++next.version;
  TAKT_RETURN_IF_ERROR(
      write_file_durably(folder_ / "snapshot.json", gateway::render_snapshot(next)));
  last_ = std::move(next);
  has_new_tokens_ = false;
  return {};
}

std::optional<gateway::StatsFile> Publisher::read_stats() const {
  const auto text = read_file(folder_ / "stats.json");
  if (!text) return std::nullopt;
  auto stats = gateway::parse_stats(*text);
  if (!stats) return std::nullopt;
  return std::move(*stats);
}

}  // namespace takt::services
