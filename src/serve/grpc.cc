// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/grpc.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <limits>
#include <utility>

#include "open_inference.grpc.pb.h"

#include "takt/base/digest.h"
#include "takt/serve/grpc_tensor.h"
#include "takt/serve/routes.h"

namespace takt::serve {
namespace {

constexpr std::int64_t kDayMs = 24 * 3600 * 1000;
constexpr std::size_t kRequestIdBytesMax = 128;

grpc::Status to_grpc(const Error& error) {
  return {static_cast<grpc::StatusCode>(code_names(error.code).grpc_status), error.text()};
}

/// Finishes a call at once.
grpc::ServerUnaryReactor* finish_now(grpc::CallbackServerContext* context,
                                     const grpc::Status& status) {
  grpc::ServerUnaryReactor* reactor = context->DefaultReactor();
  reactor->Finish(status);
  return reactor;
}

/// One ModelInfer call: owned by itself, dies in OnDone. Finish is called exactly once, by whoever
/// has the answer; the request message lives until then.
class InferCall final : public grpc::ServerUnaryReactor {
 public:
  explicit InferCall(std::shared_ptr<std::atomic<bool>> is_cancelled)
      : is_cancelled_(std::move(is_cancelled)) {}
  void OnCancel() override { is_cancelled_->store(true); }
  void OnDone() override { delete this; }  // grpc++'s own pattern: it calls this last

 private:
  std::shared_ptr<std::atomic<bool>> is_cancelled_;
};

class InferenceService final : public inference::GRPCInferenceService::CallbackService {
 public:
  InferenceService(GrpcOptions options, ServedModel& model, Clock& clock)
      : options_(std::move(options)),
        model_(model),
        clock_(clock),
        id_prefix_(random_hex(6) + "-") {}

  grpc::ServerUnaryReactor* ServerLive(grpc::CallbackServerContext* context,
                                       const inference::ServerLiveRequest*,
                                       inference::ServerLiveResponse* response) override {
    response->set_live(true);
    return finish_now(context, check_token(*context));
  }

  grpc::ServerUnaryReactor* ServerReady(grpc::CallbackServerContext* context,
                                        const inference::ServerReadyRequest*,
                                        inference::ServerReadyResponse* response) override {
    response->set_ready(model_.is_ready());
    return finish_now(context, check_token(*context));
  }

  grpc::ServerUnaryReactor* ModelReady(grpc::CallbackServerContext* context,
                                       const inference::ModelReadyRequest* request,
                                       inference::ModelReadyResponse* response) override {
    response->set_ready(model_.is_ready());
    return finish_now(context, check(*context, request->name(), request->version()));
  }

  grpc::ServerUnaryReactor* ServerMetadata(grpc::CallbackServerContext* context,
                                           const inference::ServerMetadataRequest*,
                                           inference::ServerMetadataResponse* response) override {
    const Value metadata = server_metadata();
    response->set_name(metadata["name"].as_string());
    response->set_version(metadata["version"].as_string());
    for (const Value& extension : metadata["extensions"].as_array())
      response->add_extensions(extension.as_string());
    return finish_now(context, check_token(*context));
  }

  grpc::ServerUnaryReactor* ModelMetadata(grpc::CallbackServerContext* context,
                                          const inference::ModelMetadataRequest* request,
                                          inference::ModelMetadataResponse* response) override;
  grpc::ServerUnaryReactor* ModelInfer(grpc::CallbackServerContext* context,
                                       const inference::ModelInferRequest* request,
                                       inference::ModelInferResponse* response) override;

 private:
  grpc::Status check_token(const grpc::CallbackServerContext& context) const;
  grpc::Status check(const grpc::CallbackServerContext& context, std::string_view name,
                     std::string_view version) const;
  std::optional<Mono> deadline_of(const grpc::CallbackServerContext& context) const;
  void add_trailers(grpc::CallbackServerContext& context);

  const GrpcOptions options_;
  ServedModel& model_;
  Clock& clock_;
  const std::string id_prefix_;
  std::atomic<std::uint64_t> next_id_{1};
};

grpc::Status InferenceService::check_token(const grpc::CallbackServerContext& context) const {
  if (options_.token.empty()) return grpc::Status::OK;
  const auto found = context.client_metadata().find("authorization");
  const std::string given = found == context.client_metadata().end()
                                ? std::string()
                                : std::string(found->second.data(), found->second.size());
  if (equal_constant_time(given, "Bearer " + options_.token)) return grpc::Status::OK;
  return to_grpc({Code::kUnauthenticated, "the service's token is missing or wrong",
                  "send metadata authorization: Bearer TOKEN"});
}

grpc::Status InferenceService::check(const grpc::CallbackServerContext& context,
                                     std::string_view name, std::string_view version) const {
  if (grpc::Status status = check_token(context); !status.ok()) return status;
  const Status named = model_.check_name(name, version);
  return named ? grpc::Status::OK : to_grpc(named.error());
}

std::optional<Mono> InferenceService::deadline_of(
    const grpc::CallbackServerContext& context) const {
  const auto at = context.deadline().time_since_epoch();
  const std::int64_t left_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(at).count() - clock_.now_ms();
  const bool is_set =
      context.deadline() != std::chrono::system_clock::time_point::max() && left_ms < kDayMs;
  return clock_.mono() + (is_set ? left_ms : options_.deadline_ms) * 1000;
}

void InferenceService::add_trailers(grpc::CallbackServerContext& context) {
  if (!options_.revision.empty()) context.AddTrailingMetadata("takt-revision", options_.revision);
  const auto given = context.client_metadata().find("takt-request-id");
  const bool is_given =
      given != context.client_metadata().end() && given->second.size() <= kRequestIdBytesMax;
  context.AddTrailingMetadata("takt-request-id",
                              is_given ? std::string(given->second.data(), given->second.size())
                                       : id_prefix_ + std::to_string(next_id_.fetch_add(1)));
}

void add_specs(
    const std::vector<TensorSpec>& specs,
    google::protobuf::RepeatedPtrField<inference::ModelMetadataResponse_TensorMetadata>& out) {
  for (const TensorSpec& spec : specs) {
    auto& tensor = *out.Add();
    tensor.set_name(spec.name);
    tensor.set_datatype(std::string(data_type_info(spec.type).name));
    tensor.mutable_shape()->Add(spec.shape.begin(), spec.shape.end());
  }
}

grpc::ServerUnaryReactor* InferenceService::ModelMetadata(
    grpc::CallbackServerContext* context, const inference::ModelMetadataRequest* request,
    inference::ModelMetadataResponse* response) {
  if (grpc::Status status = check(*context, request->name(), request->version()); !status.ok())
    return finish_now(context, status);
  const auto info = model_.info();
  if (!info) return finish_now(context, to_grpc(info.error()));
  response->set_name(model_.name());
  response->add_versions(model_.version());
  response->set_platform((*info)->platform);
  add_specs((*info)->inputs, *response->mutable_inputs());
  add_specs((*info)->outputs, *response->mutable_outputs());
  return finish_now(context, grpc::Status::OK);
}

grpc::ServerUnaryReactor* InferenceService::ModelInfer(grpc::CallbackServerContext* context,
                                                       const inference::ModelInferRequest* request,
                                                       inference::ModelInferResponse* response) {
  const InferContext arrival{
      .protocol = Protocol::kGrpc, .arrived = clock_.mono(), .deadline = deadline_of(*context)};
  add_trailers(*context);
  if (grpc::Status status = check(*context, request->model_name(), request->model_version());
      !status.ok())
    return finish_now(context, status);
  auto decoded = decode_infer_message(*request);
  if (!decoded) {
    model_.count_refused(arrival, decoded.error());
    return finish_now(context, to_grpc(decoded.error()));
  }
  response->set_model_name(model_.name());
  response->set_model_version(model_.version());
  response->set_id(request->id());
  auto is_cancelled = std::make_shared<std::atomic<bool>>(false);
  auto* call = new InferCall(is_cancelled);
  InferContext watched = arrival;
  watched.is_cancelled = [is_cancelled] { return is_cancelled->load(); };
  model_.infer(std::move(*decoded), watched,
               [call, response](Result<std::vector<InferOutput>> outputs) {
                 if (!outputs) return call->Finish(to_grpc(outputs.error()));
                 fill_infer_message(*outputs, *response);
                 call->Finish(grpc::Status::OK);
               });
  return call;
}

class GrpcServerImpl final : public GrpcServer {
 public:
  GrpcServerImpl(GrpcOptions options, ServedModel& model, Clock& clock)
      : listen_(options.listen), service_(std::move(options), model, clock) {}
  ~GrpcServerImpl() override { drain(0); }

  Status open();
  int port() const override { return port_; }
  void drain(std::int64_t timeout_ms) override;

 private:
  const std::string listen_;
  InferenceService service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

Status GrpcServerImpl::open() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(listen_, grpc::InsecureServerCredentials(), &port_);
  builder.SetMaxReceiveMessageSize(std::numeric_limits<std::int32_t>::max());
  builder.SetMaxSendMessageSize(std::numeric_limits<std::int32_t>::max());
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT,
                             0);  // or a second server would share the port silently
  // Clients that keep connections alive by pings are not to be cut off.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.RegisterService(&service_);
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port_ == 0)
    return fail(Code::kUnavailable,
                "gRPC cannot listen on " + listen_ + ": the port is in use or not allowed",
                "stop what listens there or choose another port (--grpc-port)");
  return {};
}

void GrpcServerImpl::drain(std::int64_t timeout_ms) {
  if (server_ == nullptr) return;
  server_->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN)));
  server_->Wait();
  server_ = nullptr;
}

}  // namespace

Result<std::unique_ptr<GrpcServer>> GrpcServer::start(GrpcOptions options, ServedModel& model,
                                                      Clock& clock) {
  auto server = std::make_unique<GrpcServerImpl>(std::move(options), model, clock);
  TAKT_RETURN_IF_ERROR(server->open());
  return server;
}

}  // namespace takt::serve
