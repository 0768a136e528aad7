// SPDX-License-Identifier: Apache-2.0
#include "takt/net/internal/grpc_call.h"

#include <climits>

namespace takt::net::internal {
namespace {

constexpr std::size_t kHeadBytesEnough = 16 << 10;

// gRPC's own headers are set anew on each leg.
bool is_own_grpc_header(grpc::string_ref key) {
  return key.starts_with(":") || key.starts_with("grpc-") || key == "content-type" || key == "te" ||
         key == "user-agent" || key == "host";
}

GrpcMetadata metadata_of(const std::multimap<grpc::string_ref, grpc::string_ref>& from) {
  GrpcMetadata metadata;
  for (const auto& [key, value] : from) {
    if (is_own_grpc_header(key)) continue;
    metadata.emplace_back(std::string(key.data(), key.size()),
                          std::string(value.data(), value.size()));
  }
  return metadata;
}

grpc::Status status_of(const Error& error) {
  return {static_cast<grpc::StatusCode>(code_names(error.code).grpc_status), error.text()};
}

// The first slice as a rule: gRPC makes one of a small message.
std::string_view head_of(const std::vector<grpc::Slice>& slices, std::string& joined) {
  if (slices.empty()) return {};
  auto view = [](const grpc::Slice& slice) {
    return std::string_view(reinterpret_cast<const char*>(slice.begin()), slice.size());
  };
  if (slices.size() == 1 || slices[0].size() >= kHeadBytesEnough) return view(slices[0]);
  for (const grpc::Slice& slice : slices) {
    joined.append(view(slice));
    if (joined.size() >= kHeadBytesEnough) break;
  }
  return joined;
}

}  // namespace

GrpcChannels::Entry GrpcChannels::entry(const std::string& target) {
  std::lock_guard lock(mutex_);
  Entry& entry = entries_[target];
  if (!entry.stub) {
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(INT_MAX);
    arguments.SetMaxSendMessageSize(INT_MAX);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);
    arguments.SetInt(GRPC_ARG_MIN_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_INITIAL_RECONNECT_BACKOFF_MS, 100);
    arguments.SetInt(GRPC_ARG_MAX_RECONNECT_BACKOFF_MS, 2'000);
    arguments.SetInt(GRPC_ARG_ENABLE_HTTP_PROXY, 0);
    entry.channel =
        grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments);
    entry.stub = std::make_shared<grpc::GenericStub>(entry.channel);
  }
  return entry;
}

std::shared_ptr<grpc::GenericStub> GrpcChannels::stub(const std::string& target) {
  return entry(target).stub;
}

void GrpcChannels::prepare(const std::string& target) {
  constexpr bool kConnect = true;
  (void)entry(target).channel->GetState(kConnect);
}

void GrpcChannels::forget(const std::string& target) {
  std::lock_guard lock(mutex_);
  entries_.erase(target);
}

GrpcProxyCall::GrpcProxyCall(grpc::GenericCallbackServerContext& context,
                             const GrpcChooser& chooser, GrpcChannels& channels)
    : context_(context), chooser_(chooser), channels_(channels) {
  StartRead(&request_);
}

void GrpcProxyCall::OnReadDone(bool ok) {
  if (is_first_read_) {
    is_first_read_ = false;
    if (ok) return choose();
    return end({grpc::StatusCode::INVALID_ARGUMENT, "the call has no message"});
  }
  leg_->client_sent(ok);
}

void GrpcProxyCall::choose() {
  metadata_ = metadata_of(context_.client_metadata());
  std::vector<grpc::Slice> slices;
  (void)request_.Dump(&slices);
  std::string joined;
  std::string peer = context_.peer();
  Result<GrpcRoute> route = chooser_({.method = context_.method(),
                                      .metadata = metadata_,
                                      .message_head = head_of(slices, joined),
                                      .message_bytes = request_.Length(),
                                      .peer = peer});
  if (!route) return end(status_of(route.error()));
  route_ = std::move(*route);
  start_upstream();
}

void GrpcProxyCall::fill_context(grpc::ClientContext& context) {
  for (const auto& [key, value] : metadata_) context.AddMetadata(key, value);
  for (const auto& [key, value] : route_.request_metadata) context.AddMetadata(key, value);
  gpr_timespec deadline = gpr_time_add(gpr_now(GPR_CLOCK_REALTIME),
                                       gpr_time_from_millis(route_.timeout_ms, GPR_TIMESPAN));
  gpr_timespec own = gpr_convert_clock_type(context_.raw_deadline(), GPR_CLOCK_REALTIME);
  context.set_deadline(gpr_time_cmp(own, deadline) < 0 ? own : deadline);
}

void GrpcProxyCall::start_upstream() {
  stub_ = channels_.stub(route_.target);
  auto context = std::make_unique<grpc::ClientContext>();
  fill_context(*context);
  grpc::ClientContext* raw = context.get();
  {
    std::lock_guard lock(mutex_);
    upstream_ = std::move(context);
    if (is_cancelled_) raw->TryCancel();
  }
  if (route_.is_unary) {
    stub_->UnaryCall(raw, context_.method(), {}, &request_, &response_,
                     [this](const grpc::Status& status) { end_unary(status); });
  } else {
    leg_ = std::make_shared<GrpcStreamLeg>(*this);
    stub_->PrepareBidiStreamingCall(raw, context_.method(), {}, leg_.get());
    leg_->start();
  }
}

void GrpcProxyCall::end_unary(const grpc::Status& status) {
  if (status.error_code() == grpc::StatusCode::UNAVAILABLE && !was_sent_elsewhere_ &&
      route_.on_unavailable) {
    was_sent_elsewhere_ = true;
    if (auto next = route_.on_unavailable()) {
      route_ = std::move(*next);
      return start_upstream();
    }
  }
  add_initial(*upstream_);
  add_trailing(*upstream_);
  if (!status.ok()) return end(status);
  add_route_trailing();
  StartWriteAndFinish(&response_, grpc::WriteOptions().set_last_message(), status);
}

void GrpcProxyCall::add_initial(const grpc::ClientContext& from) {
  for (auto& [key, value] : metadata_of(from.GetServerInitialMetadata())) {
    context_.AddInitialMetadata(key, value);
  }
}

void GrpcProxyCall::add_trailing(const grpc::ClientContext& from) {
  for (auto& [key, value] : metadata_of(from.GetServerTrailingMetadata())) {
    context_.AddTrailingMetadata(key, value);
  }
}

void GrpcProxyCall::add_route_trailing() {
  for (const auto& [key, value] : route_.trailing_metadata)
    context_.AddTrailingMetadata(key, value);
}

void GrpcProxyCall::end(const grpc::Status& status) {
  status_ = status.error_code();
  add_route_trailing();
  Finish(status);
}

void GrpcProxyCall::OnWriteDone(bool ok) {
  if (leg_) leg_->client_received(ok);
}

void GrpcProxyCall::OnCancel() {
  std::lock_guard lock(mutex_);
  is_cancelled_ = true;
  if (upstream_) upstream_->TryCancel();
}

void GrpcProxyCall::OnDone() {
  if (route_.on_end) route_.on_end(status_);
  delete this;
}

void GrpcStreamLeg::start() {
  AddMultipleHolds(2);  // operations start from the other side's callbacks
  StartRead(&call_.response_);
  StartWrite(&call_.request_);
  StartCall();
}

void GrpcStreamLeg::client_sent(bool ok) {
  std::lock_guard lock(mutex_);
  if (!holds_write_) return;
  if (ok) {
    StartWrite(&call_.request_);
  } else {
    StartWritesDone();
    release_write_hold();
  }
}

void GrpcStreamLeg::client_received(bool ok) {
  std::optional<grpc::Status> ended;
  {
    std::lock_guard lock(mutex_);
    is_writing_back_ = false;
    ended = ended_;
    if (!ended && ok && holds_read_) {
      StartRead(&call_.response_);
    } else {
      release_read_hold();
    }
  }
  if (ended) call_.end(*ended);
}

void GrpcStreamLeg::OnWriteDone(bool ok) {
  std::lock_guard lock(mutex_);
  if (ok && holds_write_) {
    call_.StartRead(&call_.request_);
  } else {
    release_write_hold();
  }
}

void GrpcStreamLeg::OnReadDone(bool ok) {
  std::lock_guard lock(mutex_);
  if (ok) {
    is_writing_back_ = true;
    call_.StartWrite(&call_.response_);
    return;
  }
  release_read_hold();
  release_write_hold();  // the server is done: nothing that the client sends matters
}

void GrpcStreamLeg::OnDone(const grpc::Status& status) {
  {
    std::lock_guard lock(mutex_);
    call_.add_trailing(*call_.upstream_);
    if (is_writing_back_) {
      ended_ = status;
      return;
    }
  }
  call_.end(status);
}

void GrpcStreamLeg::release_write_hold() {
  if (std::exchange(holds_write_, false)) RemoveHold();
}

void GrpcStreamLeg::release_read_hold() {
  if (std::exchange(holds_read_, false)) RemoveHold();
}

}  // namespace takt::net::internal
