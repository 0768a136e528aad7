// SPDX-License-Identifier: Apache-2.0
#include "takt/spine/blob_routes.h"

#include "takt/content/pack.h"
#include "takt/store/pull.h"

namespace takt::spine {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr std::size_t kDigestsPerQuery = 10'000;
constexpr std::size_t kBlobBytesMax = std::size_t{1} << 40;
constexpr std::int64_t kTransferDeadlineMs = 24ll * 3600 * 1000;
/// A pack may end a little over its aim: the last object, the index, the footer.
constexpr std::size_t kPackUploadBytesMax = 2 * content::kPackBytesMax;

Result<Response> missing(store::BlobStore& blobs, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "artifact"));
  TAKT_ASSIGN(const Value body, request.json());
  Fields fields(body, "");
  const std::vector<std::string> asked = fields.texts("digests");
  TAKT_RETURN_IF_ERROR(fields.done());
  if (asked.size() > kDigestsPerQuery)
    return fail(Code::kTooLarge, std::to_string(asked.size()) + " digests in one query",
                "ask for at most " + std::to_string(kDigestsPerQuery) + " at a time", "digests");
  std::vector<Digest> digests;
  for (const std::string& text : asked) {
    if (!is_digest(text))
      return fail(Code::kInvalid, "'" + text + "' is no SHA-256 digest", "", "digests");
    digests.push_back(Digest{text});
  }
  TAKT_ASSIGN(const std::vector<Digest> absent, blobs.missing(by.project(), digests));
  Array items;
  for (const Digest& digest : absent) items.push_back(digest.value);
  return Response::json(Object{{"missing", std::move(items)}});
}

store::ReadBytes reader_of(Request& request) {
  return [stream = request.stream](std::span<char> buffer) { return stream->read(buffer); };
}

Result<Response> add_pack(store::BlobStore& blobs, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "artifact"));
  TAKT_ASSIGN(const std::int64_t added, blobs.add_pack(by.project(), reader_of(request)));
  return Response::json(Object{{"added", added}}, 201);
}

Result<Digest> digest_param(const Request& request) {
  const std::string& text = request.path_param("digest");
  if (!is_digest(text)) return fail(Code::kInvalid, "'" + text + "' is no SHA-256 digest");
  return Digest{text};
}

Result<Response> put_blob(store::BlobStore& blobs, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kWrite>(request.caller, "artifact"));
  TAKT_ASSIGN(const Digest expected, digest_param(request));
  TAKT_ASSIGN(const Digest stored, blobs.add(by.project(), expected, reader_of(request)));
  return Response::json(Object{{"digest", stored.value}}, 201);
}

Result<Response> get_blob(store::BlobStore& blobs, access::Policy& policy, Request& request) {
  TAKT_ASSIGN(const auto by, policy.check<Right::kRead>(request.caller, "artifact"));
  TAKT_ASSIGN(const Digest digest, digest_param(request));
  TAKT_ASSIGN(const std::int64_t size, blobs.size(by.project(), digest));
  // Small objects are read whole, so that a corrupted one is an error and never a body.
  if (size <= content::kPackedObjectBytesMax) {
    TAKT_ASSIGN(std::string bytes, blobs.read_bytes(by.project(), digest));
    return Response::bytes(std::move(bytes), "application/octet-stream");
  }
  Response response;
  response.headers.set("Content-Type", "application/octet-stream");
  response.content_length = size;
  response.body = net::PullBody(store::pull_blob(blobs, by.project(), digest, size));
  return response;
}

}  // namespace

void register_blob_routes(net::Router& router, store::BlobStore& blobs, access::Policy& policy) {
  const net::RouteOptions packs{.body = net::BodyMode::kStream,
                                .body_bytes_max = kPackUploadBytesMax,
                                .deadline_ms = kTransferDeadlineMs};
  const net::RouteOptions large{.body = net::BodyMode::kStream,
                                .body_bytes_max = kBlobBytesMax,
                                .deadline_ms = kTransferDeadlineMs};
  router.add(Method::kPost, "/api/v1/blobs/missing",
             [&](Request& r) { return missing(blobs, policy, r); });
  router.add(
      Method::kPost, "/api/v1/blobs/packs", [&](Request& r) { return add_pack(blobs, policy, r); },
      packs);
  router.add(
      Method::kPut, "/api/v1/blobs/{digest}",
      [&](Request& r) { return put_blob(blobs, policy, r); }, large);
  router.add(Method::kGet, "/api/v1/blobs/{digest}",
             [&](Request& r) { return get_blob(blobs, policy, r); });
}

}  // namespace takt::spine
