// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/grpc.h"

#include <grpcpp/grpcpp.h>

#include <atomic>
#include <chrono>
#include <condition_variable>
#include <limits>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

#include "open_inference.grpc.pb.h"

#include "takt/base/digest.h"
#include "takt/serve/grpc_tensor.h"
#include "takt/serve/routes.h"

// One thread polls one completion queue and does all of the protocol's work (grpc++'s callback
// interface costs two more threads and twice the CPU per call).
namespace takt::serve {
namespace {

using GrpcService = inference::GRPCInferenceService::AsyncService;

constexpr std::int64_t kDayMs = 24 * 3600 * 1000;
constexpr std::size_t kRequestIdBytesMax = 128;
constexpr int kEventsBeforeTasks = 64;  // a flood of calls may not keep the answers waiting

grpc::Status to_grpc(const Error& error) {
  return {static_cast<grpc::StatusCode>(code_names(error.code).grpc_status), error.text()};
}

/// What a completion queue's tag points to.
class GrpcEvent {
 public:
  virtual ~GrpcEvent() = default;
  /// Loop thread. `ok` is false when the operation did not happen.
  virtual void proceed(bool ok) = 0;
};

/// The completion queue's thread, and how many calls are open.
class GrpcLoop {
 public:
  explicit GrpcLoop(std::unique_ptr<grpc::ServerCompletionQueue> queue)
      : queue_(std::move(queue)) {}
  ~GrpcLoop() { stop(); }

  grpc::ServerCompletionQueue* queue() { return queue_.get(); }
  void start() {
    thread_ = std::thread([this] { run(); });
  }
  /// Waits until no call is open, then ends the thread. The server must be shut down.
  void stop();
  /// Loop thread: runs the task when no event is at hand.
  void run_later(std::function<void()> task) { later_.push_back(std::move(task)); }
  void call_opened();
  void call_closed();

 private:
  void run();

  std::unique_ptr<grpc::ServerCompletionQueue> queue_;
  std::vector<std::function<void()>> later_;  // loop thread only
  std::mutex mutex_;
  std::condition_variable closed_;
  int open_calls_ = 0;  // guarded by mutex_
  std::thread thread_;
};

void GrpcLoop::run() {
  int events = 0;
  while (true) {
    void* tag = nullptr;
    bool ok = false;
    const gpr_timespec until =
        later_.empty() ? gpr_inf_future(GPR_CLOCK_REALTIME) : gpr_time_0(GPR_CLOCK_REALTIME);
    const auto next = queue_->AsyncNext(&tag, &ok, until);
    if (next == grpc::CompletionQueue::GOT_EVENT) {
      static_cast<GrpcEvent*>(tag)->proceed(ok);
      if (later_.empty() || ++events < kEventsBeforeTasks) continue;
    }
    events = 0;
    for (auto& task : std::exchange(later_, {})) task();
    if (next == grpc::CompletionQueue::SHUTDOWN) return;
  }
}

void GrpcLoop::stop() {
  if (!thread_.joinable()) return;
  {
    std::unique_lock lock(mutex_);
    closed_.wait(lock, [this] { return open_calls_ == 0; });
  }
  queue_->Shutdown();
  thread_.join();
}

void GrpcLoop::call_opened() {
  const std::lock_guard lock(mutex_);
  ++open_calls_;
}

void GrpcLoop::call_closed() {
  const std::lock_guard lock(mutex_);
  if (--open_calls_ == 0) closed_.notify_all();
}

/// What the six methods answer, apart from how calls are moved.
class GrpcFrontEnd {
 public:
  GrpcFrontEnd(GrpcOptions options, ServedModel& model, Clock& clock)
      : options_(std::move(options)),
        model_(model),
        clock_(clock),
        id_prefix_(random_hex(6) + "-") {}

  grpc::Status live(const grpc::ServerContext& context, const inference::ServerLiveRequest&,
                    inference::ServerLiveResponse& response) const {
    response.set_live(true);
    return check_token(context);
  }
  grpc::Status ready(const grpc::ServerContext& context, const inference::ServerReadyRequest&,
                     inference::ServerReadyResponse& response) const {
    response.set_ready(model_.is_ready());
    return check_token(context);
  }
  grpc::Status model_ready(const grpc::ServerContext& context,
                           const inference::ModelReadyRequest& request,
                           inference::ModelReadyResponse& response) const {
    response.set_ready(model_.is_ready());
    return check(context, request.name(), request.version());
  }
  grpc::Status server_metadata(const grpc::ServerContext& context,
                               const inference::ServerMetadataRequest& request,
                               inference::ServerMetadataResponse& response) const;
  grpc::Status model_metadata(const grpc::ServerContext& context,
                              const inference::ModelMetadataRequest& request,
                              inference::ModelMetadataResponse& response) const;
  /// Answers by `finish`, once, from this or another thread.
  void infer(grpc::ServerContext& context, const inference::ModelInferRequest& request,
             inference::ModelInferResponse& response, InferContext arrival,
             std::function<void(grpc::Status)> finish);
  Clock& clock() const { return clock_; }

 private:
  grpc::Status check_token(const grpc::ServerContext& context) const;
  grpc::Status check(const grpc::ServerContext& context, std::string_view name,
                     std::string_view version) const;
  std::optional<Mono> deadline_of(const grpc::ServerContext& context) const;
  void add_trailers(grpc::ServerContext& context);

  const GrpcOptions options_;
  ServedModel& model_;
  Clock& clock_;
  const std::string id_prefix_;
  std::uint64_t next_id_ = 1;  // loop thread only
};

grpc::Status GrpcFrontEnd::check_token(const grpc::ServerContext& context) const {
  if (options_.token.empty()) return grpc::Status::OK;
  const auto found = context.client_metadata().find("authorization");
  const std::string given = found == context.client_metadata().end()
                                ? std::string()
                                : std::string(found->second.data(), found->second.size());
  if (equal_constant_time(given, "Bearer " + options_.token)) return grpc::Status::OK;
  return to_grpc({Code::kUnauthenticated, "the service's token is missing or wrong",
                  "send metadata authorization: Bearer TOKEN"});
}

grpc::Status GrpcFrontEnd::check(const grpc::ServerContext& context, std::string_view name,
                                 std::string_view version) const {
  if (grpc::Status status = check_token(context); !status.ok()) return status;
  const Status named = model_.check_name(name, version);
  return named ? grpc::Status::OK : to_grpc(named.error());
}

grpc::Status GrpcFrontEnd::server_metadata(const grpc::ServerContext& context,
                                           const inference::ServerMetadataRequest&,
                                           inference::ServerMetadataResponse& response) const {
  const Value metadata = serve::server_metadata();
  response.set_name(metadata["name"].as_string());
  response.set_version(metadata["version"].as_string());
  for (const Value& extension : metadata["extensions"].as_array()) {
    response.add_extensions(extension.as_string());
  }
  return check_token(context);
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

grpc::Status GrpcFrontEnd::model_metadata(const grpc::ServerContext& context,
                                          const inference::ModelMetadataRequest& request,
                                          inference::ModelMetadataResponse& response) const {
  if (grpc::Status status = check(context, request.name(), request.version()); !status.ok()) {
    return status;
  }
  const auto info = model_.info();
  if (!info) return to_grpc(info.error());
  response.set_name(model_.name());
  response.add_versions(model_.version());
  response.set_platform((*info)->platform);
  add_specs((*info)->inputs, *response.mutable_inputs());
  add_specs((*info)->outputs, *response.mutable_outputs());
  return grpc::Status::OK;
}

std::optional<Mono> GrpcFrontEnd::deadline_of(const grpc::ServerContext& context) const {
  const auto deadline = context.deadline();
  const auto at_ms =
      std::chrono::duration_cast<std::chrono::milliseconds>(deadline.time_since_epoch()).count();
  const bool is_set =
      deadline != std::chrono::system_clock::time_point::max() && at_ms - clock_.now_ms() < kDayMs;
  const std::int64_t left_ms = is_set ? at_ms - clock_.now_ms() : options_.deadline_ms;
  return clock_.mono() + left_ms * 1000;
}

void GrpcFrontEnd::add_trailers(grpc::ServerContext& context) {
  if (!options_.revision.empty()) context.AddTrailingMetadata("takt-revision", options_.revision);
  const auto given = context.client_metadata().find("takt-request-id");
  const bool is_given =
      given != context.client_metadata().end() && given->second.size() <= kRequestIdBytesMax;
  context.AddTrailingMetadata("takt-request-id",
                              is_given ? std::string(given->second.data(), given->second.size())
                                       : id_prefix_ + std::to_string(next_id_++));
}

void GrpcFrontEnd::infer(grpc::ServerContext& context, const inference::ModelInferRequest& request,
                         inference::ModelInferResponse& response, InferContext arrival,
                         std::function<void(grpc::Status)> finish) {
  arrival.deadline = deadline_of(context);
  add_trailers(context);
  if (grpc::Status status = check(context, request.model_name(), request.model_version());
      !status.ok()) {
    return finish(status);
  }
  auto decoded = decode_infer_message(request);
  if (!decoded) {
    model_.count_refused(arrival, decoded.error());
    return finish(to_grpc(decoded.error()));
  }
  response.set_model_name(model_.name());
  response.set_model_version(model_.version());
  response.set_id(request.id());
  model_.infer(std::move(*decoded), arrival,
               [&response, finish = std::move(finish)](Result<std::vector<InferOutput>> outputs) {
                 if (!outputs) return finish(to_grpc(outputs.error()));
                 fill_infer_message(*outputs, response);
                 finish(grpc::Status::OK);
               });
}

/// How a method's calls are accepted and answered.
template <class Request, class Response>
struct GrpcMethod {
  void (GrpcService::*accept)(grpc::ServerContext*, Request*,
                              grpc::ServerAsyncResponseWriter<Response>*, grpc::CompletionQueue*,
                              grpc::ServerCompletionQueue*, void*);
  grpc::Status (GrpcFrontEnd::*answer)(const grpc::ServerContext&, const Request&, Response&) const;
};

struct GrpcParts {
  GrpcService& service;
  GrpcFrontEnd& front_end;
  GrpcLoop& loop;
};

/// One call that is answered at once: accepted -> finished. Owned by itself, dies with its last
/// event.
template <class Request, class Response>
class QuickCall final : public GrpcEvent {
 public:
  using Method = GrpcMethod<Request, Response>;
  /// Waits for the next call of the method.
  static void accept(GrpcParts parts, Method method) { new QuickCall(parts, method); }

  void proceed(bool ok) override {
    if (!ok || is_answered_) {
      delete this;
      return;
    }
    is_answered_ = true;
    accept(parts_, method_);
    const grpc::Status status = (parts_.front_end.*method_.answer)(context_, request_, response_);
    writer_.Finish(response_, status, this);
  }

 private:
  QuickCall(GrpcParts parts, Method method) : parts_(parts), method_(method), writer_(&context_) {
    (parts_.service.*method_.accept)(&context_, &request_, &writer_, parts_.loop.queue(),
                                     parts_.loop.queue(), this);
  }

  GrpcParts parts_;
  Method method_;
  grpc::ServerContext context_;
  Request request_;
  Response response_;
  grpc::ServerAsyncResponseWriter<Response> writer_;
  bool is_answered_ = false;
};

/// One inference: accepted -> finished and done, in either order. Owned by itself, dies with the
/// last event.
class InferCall final {
 public:
  static void accept(GrpcParts parts) { new InferCall(parts); }

 private:
  /// One of the call's events.
  struct Part final : GrpcEvent {
    Part(InferCall& with_call, void (InferCall::*with_handler)(bool))
        : call(with_call), handler(with_handler) {}
    void proceed(bool ok) override { (call.*handler)(ok); }
    InferCall& call;
    void (InferCall::*handler)(bool);
  };

  explicit InferCall(GrpcParts parts) : parts_(parts), writer_(&context_) {
    context_.AsyncNotifyWhenDone(&done_);
    parts_.service.RequestModelInfer(&context_, &request_, &writer_, parts_.loop.queue(),
                                     parts_.loop.queue(), &accepted_);
  }

  void on_accepted(bool ok) {
    if (!ok) {  // the server shuts down; `done_` does not come then
      delete this;
      return;
    }
    parts_.loop.call_opened();
    accept(parts_);
    InferContext arrival{.protocol = Protocol::kGrpc, .arrived = parts_.front_end.clock().mono()};
    arrival.is_cancelled = [this] { return is_cancelled_.load(); };
    arrival.run_later = [this](std::function<void()> task) {
      parts_.loop.run_later(std::move(task));
    };
    parts_.front_end.infer(
        context_, request_, response_, std::move(arrival),
        [this](const grpc::Status& status) { writer_.Finish(response_, status, &finished_); });
  }

  void on_done(bool) {
    is_cancelled_.store(context_.IsCancelled());
    close_one();
  }

  void on_finished(bool) { close_one(); }

  void close_one() {
    if (--events_left_ > 0) return;
    parts_.loop.call_closed();
    delete this;
  }

  GrpcParts parts_;
  grpc::ServerContext context_;
  inference::ModelInferRequest request_;
  inference::ModelInferResponse response_;
  grpc::ServerAsyncResponseWriter<inference::ModelInferResponse> writer_;
  Part accepted_{*this, &InferCall::on_accepted};
  Part done_{*this, &InferCall::on_done};
  Part finished_{*this, &InferCall::on_finished};
  int events_left_ = 2;  // loop thread only
  std::atomic<bool> is_cancelled_ = false;
};

class GrpcServerImpl final : public GrpcServer {
 public:
  GrpcServerImpl(GrpcOptions options, ServedModel& model, Clock& clock)
      : listen_(options.listen), front_end_(std::move(options), model, clock) {}
  ~GrpcServerImpl() override { drain(0); }

  Status open();
  int port() const override { return port_; }
  void drain(std::int64_t timeout_ms) override;

 private:
  void accept_all();

  const std::string listen_;
  GrpcService service_;
  GrpcFrontEnd front_end_;
  std::unique_ptr<GrpcLoop> loop_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

void GrpcServerImpl::accept_all() {
  using inference::ModelMetadataRequest, inference::ModelMetadataResponse;
  using inference::ModelReadyRequest, inference::ModelReadyResponse;
  using inference::ServerLiveRequest, inference::ServerLiveResponse;
  using inference::ServerMetadataRequest, inference::ServerMetadataResponse;
  using inference::ServerReadyRequest, inference::ServerReadyResponse;
  const GrpcParts parts{service_, front_end_, *loop_};
  QuickCall<ServerLiveRequest, ServerLiveResponse>::accept(
      parts, {&GrpcService::RequestServerLive, &GrpcFrontEnd::live});
  QuickCall<ServerReadyRequest, ServerReadyResponse>::accept(
      parts, {&GrpcService::RequestServerReady, &GrpcFrontEnd::ready});
  QuickCall<ModelReadyRequest, ModelReadyResponse>::accept(
      parts, {&GrpcService::RequestModelReady, &GrpcFrontEnd::model_ready});
  QuickCall<ServerMetadataRequest, ServerMetadataResponse>::accept(
      parts, {&GrpcService::RequestServerMetadata, &GrpcFrontEnd::server_metadata});
  QuickCall<ModelMetadataRequest, ModelMetadataResponse>::accept(
      parts, {&GrpcService::RequestModelMetadata, &GrpcFrontEnd::model_metadata});
  InferCall::accept(parts);
}

Status GrpcServerImpl::open() {
  grpc::ServerBuilder builder;
  builder.AddListeningPort(listen_, grpc::InsecureServerCredentials(), &port_);
  builder.SetMaxReceiveMessageSize(std::numeric_limits<std::int32_t>::max());
  builder.SetMaxSendMessageSize(std::numeric_limits<std::int32_t>::max());
  // Or a second server would share the port silently.
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, 0);
  // Clients that keep connections alive by pings are not to be cut off.
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.RegisterService(&service_);
  loop_ = std::make_unique<GrpcLoop>(builder.AddCompletionQueue());
  server_ = builder.BuildAndStart();
  if (server_ == nullptr || port_ == 0) {
    loop_->queue()->Shutdown();
    return fail(Code::kUnavailable,
                "gRPC cannot listen on " + listen_ + ": the port is in use or not allowed",
                "stop what listens there or choose another port (--grpc-port)");
  }
  accept_all();
  loop_->start();
  return {};
}

void GrpcServerImpl::drain(std::int64_t timeout_ms) {
  if (server_ == nullptr) return;
  server_->Shutdown(
      gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN)));
  loop_->stop();
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
