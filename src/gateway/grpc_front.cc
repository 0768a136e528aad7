// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/grpc_front.h"

#include <algorithm>
#include <utility>

#include "takt/base/digest.h"
#include "takt/gateway/request_id.h"

namespace takt::gateway {
namespace {

constexpr std::string_view kServicePrefix = "/inference.GRPCInferenceService/";
constexpr std::string_view kBearer = "Bearer ";
constexpr int kGrpcInvalidArgument = 3, kGrpcNotFound = 5, kGrpcCancelled = 1;

/// False when the bytes end or are no varint.
bool take_varint(std::string_view& bytes, std::uint64_t& value) {
  value = 0;
  for (unsigned shift = 0; shift < 64 && !bytes.empty(); shift += 7) {
    const auto byte = static_cast<unsigned char>(bytes.front());
    bytes.remove_prefix(1);
    value |= static_cast<std::uint64_t>(byte & 127U) << shift;
    if (byte < 128) return true;
  }
  return false;
}

bool skip_bytes(std::string_view& bytes, std::uint64_t count) {
  if (count > bytes.size()) return false;
  bytes.remove_prefix(count);
  return true;
}

/// What a client did wrong, or took back, is no fault of the revision.
bool is_revision_fault(int grpc_status) {
  return grpc_status != 0 && grpc_status != kGrpcInvalidArgument && grpc_status != kGrpcNotFound &&
         grpc_status != kGrpcCancelled;
}

std::string_view authorization_of(const net::GrpcMetadata& metadata) {
  for (const auto& [key, value] : metadata)
    if (key == "authorization") return value;
  return {};
}

}  // namespace

std::optional<std::string_view> first_text_field(std::string_view message) {
  std::uint64_t tag = 0, length = 0;
  while (take_varint(message, tag)) {
    switch (tag & 7U) {
      case 0:
        if (!take_varint(message, length)) return std::nullopt;
        break;
      case 1:
        if (!skip_bytes(message, 8)) return std::nullopt;
        break;
      case 2:
        if (!take_varint(message, length)) return std::nullopt;
        if (tag >> 3U == 1)
          return length > message.size() ? std::nullopt : std::optional(message.substr(0, length));
        if (!skip_bytes(message, length)) return std::nullopt;
        break;
      case 5:
        if (!skip_bytes(message, 4)) return std::nullopt;
        break;
      default:
        return std::nullopt;
    }
  }
  return std::nullopt;
}

bool is_service_token(const Table& table, std::string_view authorization) {
  if (!authorization.starts_with(kBearer)) return false;
  const std::string hash = sha256(authorization.substr(kBearer.size())).value;
  return std::ranges::any_of(table.token_hashes, [&](const std::string& known) {
    return equal_constant_time(known, hash);
  });
}

Result<net::GrpcRoute> GrpcFront::choose(const net::GrpcCall& call) {
  if (options_.needs_token && !is_service_token(*routes_.table(), authorization_of(call.metadata)))
    return fail(Code::kUnauthenticated, "the service's token is missing or wrong",
                "send the metadata authorization: Bearer TOKEN");
  std::string_view method = call.method;
  if (method.starts_with(kServicePrefix)) method.remove_prefix(kServicePrefix.size());
  const bool names_model = method.starts_with("Model");
  if (!names_model) {
    TAKT_ASSIGN(auto any, routes_.choose_any(Wire::kGrpc, thread_rng()));
    return route_to(std::move(any), {}, {.is_unary = true, .is_again = true});
  }
  const auto name = first_text_field(call.message_head);
  if (!name)
    return fail(Code::kInvalid, "the request names no model",
                "set its field model_name or name to the service's name");
  TAKT_ASSIGN(auto choice, routes_.choose(*name, Wire::kGrpc, thread_rng()));
  const bool is_stream = method == "ModelStreamInfer";
  // Readiness and metadata do not run the model: counted, a prober would hide how it runs.
  const bool is_counted = is_stream || method == "ModelInfer";
  return route_to(std::move(choice), std::string(*name),
                  {.is_unary = !is_stream, .is_counted = is_counted});
}

net::GrpcRoute GrpcFront::route_to(std::unique_ptr<Choice> chosen, std::string service,
                                   CallKind kind) const {
  const std::shared_ptr<Choice> choice(std::move(chosen));
  net::GrpcRoute route;
  route.target = choice->replica().endpoint.grpc;
  route.is_unary = kind.is_unary;
  route.timeout_ms = options_.deadline_ms;
  // The replica gives the id back as trailing metadata.
  route.request_metadata = {
      {"takt-request-id",
       make_request_id({choice->service_hash, choice->revision, clock_.now_ms()}, thread_rng())}};
  route.trailing_metadata = {{"takt-revision", std::to_string(choice->revision)}};
  const Mono start = clock_.mono();
  route.on_end = [this, choice, start, kind](int status) {
    if (kind.is_counted)
      choice->counters().record(clock_.mono() - start, is_revision_fault(status));
  };
  if (kind.is_again || !kind.is_unary) return route;
  route.on_unavailable = [this, choice, service, kind]() -> std::optional<net::GrpcRoute> {
    routes_.avoid(choice->replica());
    auto next = routes_.choose_again(service, Wire::kGrpc, *choice, thread_rng());
    if (!next) return std::nullopt;
    CallKind again = kind;
    again.is_again = true;
    return route_to(std::move(*next), service, again);
  };
  return route;
}

}  // namespace takt::gateway
