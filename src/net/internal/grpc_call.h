// SPDX-License-Identifier: Apache-2.0
// One proxied gRPC call. Only grpc_*.cc files of net include this.
#pragma once

#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>

#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>

#include "takt/net/grpc_proxy.h"

namespace takt::net::internal {

/// Channels by target; made once, kept.
class GrpcChannels {
 public:
  std::shared_ptr<grpc::GenericStub> stub(const std::string& target);
  /// Begins to connect, so that the first call meets a channel that is ready: a connect may fail
  /// once where the kernel is short of a feature, and is tried again in the background.
  void prepare(const std::string& target);
  void forget(const std::string& target);

 private:
  struct Entry {
    std::shared_ptr<grpc::Channel> channel;
    std::shared_ptr<grpc::GenericStub> stub;
  };
  Entry entry(const std::string& target);

  std::mutex mutex_;
  std::map<std::string, Entry> entries_;
};

class GrpcStreamLeg;

/// The server side of a call, and for unary calls the client side too. Deletes itself at its end.
///   read first message -> choose -> unary: one call upstream, its answer is the end
///                                -> stream: a GrpcStreamLeg passes messages both ways
class GrpcProxyCall final : public grpc::ServerGenericBidiReactor {
 public:
  GrpcProxyCall(grpc::GenericCallbackServerContext& context, const GrpcChooser& chooser,
                GrpcChannels& channels);

  void OnReadDone(bool ok) override;
  void OnWriteDone(bool ok) override;
  void OnCancel() override;
  void OnDone() override;

 private:
  friend class GrpcStreamLeg;
  void choose();
  void start_upstream();
  void end_unary(const grpc::Status& status);
  void fill_context(grpc::ClientContext& context);
  void add_initial(const grpc::ClientContext& from);
  void add_trailing(const grpc::ClientContext& from);
  void add_route_trailing();
  void end(const grpc::Status& status);

  grpc::GenericCallbackServerContext& context_;
  const GrpcChooser& chooser_;
  GrpcChannels& channels_;
  GrpcMetadata metadata_;
  GrpcRoute route_;
  grpc::ByteBuffer request_;
  grpc::ByteBuffer response_;
  std::shared_ptr<grpc::GenericStub> stub_;
  std::shared_ptr<GrpcStreamLeg> leg_;
  std::mutex mutex_;  // of what follows
  std::unique_ptr<grpc::ClientContext> upstream_;
  bool is_cancelled_ = false;
  bool is_first_read_ = true;
  bool was_sent_elsewhere_ = false;
  int status_ = 0;
};

/// The client side of a streaming call. The server's initial metadata is not passed on.
class GrpcStreamLeg final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  explicit GrpcStreamLeg(GrpcProxyCall& call) : call_(call) {}
  void start();

  // From the server side:
  void client_sent(bool ok);      // request_ holds a message, or the client is done
  void client_received(bool ok);  // the last message was written to the client

  void OnWriteDone(bool ok) override;
  void OnReadDone(bool ok) override;
  void OnDone(const grpc::Status& status) override;

 private:
  void release_write_hold();
  void release_read_hold();

  GrpcProxyCall& call_;
  std::mutex mutex_;
  bool holds_write_ = true;       // the client may still send
  bool holds_read_ = true;        // the server may still send
  bool is_writing_back_ = false;  // a message to the client is on its way
  std::optional<grpc::Status> ended_;
};

}  // namespace takt::net::internal
