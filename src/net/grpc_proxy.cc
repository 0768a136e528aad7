// SPDX-License-Identifier: Apache-2.0
#include "takt/net/grpc_proxy.h"

#include <climits>

#include "takt/net/internal/grpc_call.h"

namespace takt::net {
namespace internal {
namespace {

class AnyService final : public grpc::CallbackGenericService {
 public:
  AnyService(GrpcChooser chooser, GrpcChannels& channels)
      : chooser_(std::move(chooser)), channels_(channels) {}
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    return new GrpcProxyCall(*context, chooser_, channels_);  // deletes itself
  }

 private:
  GrpcChooser chooser_;
  GrpcChannels& channels_;
};

class GrpcProxyImpl final : public GrpcProxy {
 public:
  explicit GrpcProxyImpl(GrpcChooser chooser) : service_(std::move(chooser), channels_) {}
  ~GrpcProxyImpl() override { drain(0); }

  Status open(const GrpcProxyOptions& options);
  int port() const override { return port_; }
  void drain(std::int64_t timeout_ms) override {
    if (!server_) return;
    server_->Shutdown(
        gpr_time_add(gpr_now(GPR_CLOCK_REALTIME), gpr_time_from_millis(timeout_ms, GPR_TIMESPAN)));
    server_->Wait();
    server_ = nullptr;
  }
  void prepare(const std::string& target) override { channels_.prepare(target); }
  void forget(const std::string& target) override { channels_.forget(target); }

 private:
  GrpcChannels channels_;
  AnyService service_;
  std::unique_ptr<grpc::Server> server_;
  int port_ = 0;
};

Status GrpcProxyImpl::open(const GrpcProxyOptions& options) {
  std::shared_ptr<grpc::ServerCredentials> credentials = grpc::InsecureServerCredentials();
  if (!options.certificate_pem.empty()) {
    grpc::SslServerCredentialsOptions tls;
    tls.pem_key_cert_pairs.push_back({options.key_pem, options.certificate_pem});
    credentials = grpc::SslServerCredentials(tls);
  }
  grpc::ServerBuilder builder;
  builder.AddListeningPort(options.listen, credentials, &port_);
  builder.SetMaxReceiveMessageSize(INT_MAX);
  builder.SetMaxSendMessageSize(INT_MAX);
  builder.AddChannelArgument(GRPC_ARG_ALLOW_REUSEPORT, options.reuse_port ? 1 : 0);
  // Clients may ping as they like (tritonclient's keep-alive options).
  builder.AddChannelArgument(GRPC_ARG_KEEPALIVE_PERMIT_WITHOUT_CALLS, 1);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MIN_RECV_PING_INTERVAL_WITHOUT_DATA_MS, 1'000);
  builder.AddChannelArgument(GRPC_ARG_HTTP2_MAX_PING_STRIKES, 0);
  builder.RegisterCallbackGenericService(&service_);
  server_ = builder.BuildAndStart();
  if (!server_ || port_ == 0) {
    return fail(Code::kUnavailable, "listening for gRPC on " + options.listen + " failed",
                "stop the program that listens there, or choose another address");
  }
  return {};
}

}  // namespace
}  // namespace internal

Result<std::unique_ptr<GrpcProxy>> GrpcProxy::start(GrpcProxyOptions options, GrpcChooser chooser) {
  auto proxy = std::make_unique<internal::GrpcProxyImpl>(std::move(chooser));
  TAKT_RETURN_IF_ERROR(proxy->open(options));
  return proxy;
}

}  // namespace takt::net
