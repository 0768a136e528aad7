// SPDX-License-Identifier: Apache-2.0
// The proxy between a generic client and a generic echo server.
#include "takt/net/grpc_proxy.h"

#include <arpa/inet.h>
#include <grpcpp/generic/async_generic_service.h>
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>
#include <poll.h>
#include <sys/socket.h>

#include <atomic>
#include <future>

#include "takt/base/file.h"

namespace takt::net {
namespace {

grpc::ByteBuffer buffer_of(const std::string& text) {
  grpc::Slice slice(text);
  return grpc::ByteBuffer(&slice, 1);
}

std::string text_of(const grpc::ByteBuffer& buffer) {
  std::vector<grpc::Slice> slices;
  (void)buffer.Dump(&slices);
  std::string text;
  for (const auto& slice : slices)
    text.append(reinterpret_cast<const char*>(slice.begin()), slice.size());
  return text;
}

// Sends every message back; "fail" ends with an error. Repeats the metadata x-sent.
class EchoService final : public grpc::CallbackGenericService {
 public:
  class Echo final : public grpc::ServerGenericBidiReactor {
   public:
    explicit Echo(grpc::GenericCallbackServerContext& context) {
      auto sent = context.client_metadata().find("x-sent");
      if (sent != context.client_metadata().end()) {
        context.AddTrailingMetadata("x-seen",
                                    std::string(sent->second.data(), sent->second.size()));
      }
      StartRead(&message_);
    }
    void OnReadDone(bool ok) override {
      if (!ok) return Finish(grpc::Status::OK);
      if (text_of(message_) == "fail")
        return Finish({grpc::StatusCode::INVALID_ARGUMENT, "bad tensor"});
      StartWrite(&message_);
    }
    void OnWriteDone(bool ok) override {
      if (!ok) return Finish({grpc::StatusCode::ABORTED, ""});
      StartRead(&message_);
    }
    void OnDone() override { delete this; }

   private:
    grpc::ByteBuffer message_;
  };
  grpc::ServerGenericBidiReactor* CreateReactor(
      grpc::GenericCallbackServerContext* context) override {
    ++calls;
    return new Echo(*context);
  }
  std::atomic<int> calls = 0;
};

class GrpcProxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    grpc::ServerBuilder builder;
    int port = 0;
    builder.AddListeningPort("127.0.0.1:0", grpc::InsecureServerCredentials(), &port);
    builder.RegisterCallbackGenericService(&echo_);
    builder.SetMaxReceiveMessageSize(-1);
    back_ = builder.BuildAndStart();
    target_ = "127.0.0.1:" + std::to_string(port);
    auto started = GrpcProxy::start({}, [this](const GrpcCall& call) { return choose(call); });
    ASSERT_TRUE(started);
    proxy_ = std::move(*started);
    grpc::ChannelArguments arguments;
    arguments.SetMaxReceiveMessageSize(-1);
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // a port may have had another server
    stub_ = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel("127.0.0.1:" + std::to_string(proxy_->port()),
                                  grpc::InsecureChannelCredentials(), arguments));
  }
  void TearDown() override {
    stub_ = nullptr;
    proxy_ = nullptr;
    back_->Shutdown();
  }

  Result<GrpcRoute> choose(const GrpcCall& call) {
    seen_head_ = std::string(call.message_head.substr(0, 100));
    seen_bytes_ = call.message_bytes;
    if (call.message_head.starts_with("unknown"))
      return fail(Code::kNotFound, "no service unknown");
    GrpcRoute route;
    route.target = call.message_head.starts_with("dead") ? "127.0.0.1:1" : target_;
    route.is_unary = !call.method.ends_with("Stream");
    route.trailing_metadata = {{"takt-revision", "7"}};
    route.on_end = [this](int status) { last_status_ = status; };
    if (call.message_head.starts_with("dead-then-live")) {
      route.on_unavailable = [this]() -> std::optional<GrpcRoute> {
        GrpcRoute next;
        next.target = target_;
        return next;
      };
    }
    return route;
  }

  grpc::Status call(const std::string& message, std::string& answer, grpc::ClientContext& context) {
    grpc::ByteBuffer request = buffer_of(message);
    grpc::ByteBuffer response;
    std::promise<grpc::Status> done;
    stub_->UnaryCall(&context, "/x.Y/Unary", {}, &request, &response,
                     [&](const grpc::Status& status) { done.set_value(status); });
    grpc::Status status = done.get_future().get();
    answer = text_of(response);
    return status;
  }

  EchoService echo_;
  std::unique_ptr<grpc::Server> back_;
  std::unique_ptr<GrpcProxy> proxy_;
  std::unique_ptr<grpc::GenericStub> stub_;
  std::string target_;
  std::string seen_head_;
  std::size_t seen_bytes_ = 0;
  std::atomic<int> last_status_ = -1;
};

TEST_F(GrpcProxyTest, a_unary_call_passes_with_metadata_both_ways) {
  grpc::ClientContext context;
  context.AddMetadata("x-sent", "hello");
  std::string answer;
  grpc::Status status = call("a message", answer, context);
  EXPECT_TRUE(status.ok()) << status.error_message();
  EXPECT_EQ(answer, "a message");
  EXPECT_EQ(seen_head_, "a message");
  auto trailing = context.GetServerTrailingMetadata();
  EXPECT_EQ(trailing.find("x-seen")->second, "hello");
  EXPECT_EQ(trailing.find("takt-revision")->second, "7");
}

TEST_F(GrpcProxyTest, large_messages_pass) {
  grpc::ClientContext context;
  std::string answer;
  std::string message(20 << 20, 'x');
  grpc::Status status = call(message, answer, context);
  EXPECT_TRUE(status.ok()) << status.error_code() << " " << status.error_message();
  EXPECT_TRUE(answer == message);
  EXPECT_EQ(seen_bytes_, message.size());
  EXPECT_EQ(seen_head_, std::string(100, 'x'));
}

TEST_F(GrpcProxyTest, errors_of_the_server_and_of_the_chooser_reach_the_client) {
  std::string answer;
  grpc::ClientContext first;
  grpc::Status status = call("fail", answer, first);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(status.error_message(), "bad tensor");
  grpc::ClientContext second;
  status = call("unknown", answer, second);
  EXPECT_EQ(status.error_code(), grpc::StatusCode::NOT_FOUND);
  EXPECT_EQ(status.error_message(), "no service unknown");
  EXPECT_EQ(echo_.calls, 1);
}

TEST_F(GrpcProxyTest, a_dead_target_is_unavailable_or_replaced) {
  std::string answer;
  grpc::ClientContext first;
  EXPECT_EQ(call("dead", answer, first).error_code(), grpc::StatusCode::UNAVAILABLE);
  grpc::ClientContext second;
  EXPECT_TRUE(call("dead-then-live", answer, second).ok());
  EXPECT_EQ(answer, "dead-then-live");
}

TEST_F(GrpcProxyTest, a_prepared_target_is_connected_before_any_call) {
  const Fd listener(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0));
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
  socklen_t size = sizeof address;
  ASSERT_EQ(::bind(listener.get(), reinterpret_cast<sockaddr*>(&address), size), 0);
  ASSERT_EQ(::listen(listener.get(), 4), 0);
  ::getsockname(listener.get(), reinterpret_cast<sockaddr*>(&address), &size);
  proxy_->prepare("127.0.0.1:" + std::to_string(ntohs(address.sin_port)));
  pollfd incoming{listener.get(), POLLIN, 0};
  EXPECT_EQ(::poll(&incoming, 1, 10'000), 1);
}

// Sends some messages, reads as many back, then ends.
class StreamClient final : public grpc::ClientBidiReactor<grpc::ByteBuffer, grpc::ByteBuffer> {
 public:
  StreamClient(grpc::GenericStub& stub, std::vector<std::string> messages)
      : messages_(std::move(messages)) {
    stub.PrepareBidiStreamingCall(&context, "/x.Y/BothStream", {}, this);
    send();
    StartRead(&incoming_);
    StartCall();
  }
  grpc::Status wait() { return done_.get_future().get(); }
  std::vector<std::string> answers;
  grpc::ClientContext context;

 private:
  void send() {
    if (next_ == messages_.size()) return StartWritesDone();
    outgoing_ = buffer_of(messages_[next_++]);
    StartWrite(&outgoing_);
  }
  void OnReadDone(bool ok) override {
    if (!ok) return;
    answers.push_back(text_of(incoming_));
    StartRead(&incoming_);
    send();
  }
  void OnDone(const grpc::Status& status) override { done_.set_value(status); }
  std::vector<std::string> messages_;
  std::size_t next_ = 0;
  grpc::ByteBuffer outgoing_;
  grpc::ByteBuffer incoming_;
  std::promise<grpc::Status> done_;
};

TEST_F(GrpcProxyTest, a_stream_passes_both_ways_until_either_side_ends) {
  StreamClient whole(*stub_, {"one", "two", "three"});
  EXPECT_TRUE(whole.wait().ok());
  EXPECT_EQ(whole.answers, (std::vector<std::string>{"one", "two", "three"}));
  auto trailing = whole.context.GetServerTrailingMetadata();
  EXPECT_EQ(trailing.find("takt-revision")->second, "7");
  StreamClient failed(*stub_, {"one", "fail", "three"});
  grpc::Status status = failed.wait();
  EXPECT_EQ(status.error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  EXPECT_EQ(failed.answers, (std::vector<std::string>{"one"}));
  StreamClient dead(*stub_, {"dead"});
  EXPECT_EQ(dead.wait().error_code(), grpc::StatusCode::UNAVAILABLE);
}

TEST_F(GrpcProxyTest, a_second_proxy_cannot_take_the_port_unless_both_share_it) {
  std::string listen = "127.0.0.1:" + std::to_string(proxy_->port());
  auto second = GrpcProxy::start({.listen = listen},
                                 [](const GrpcCall&) { return Result<GrpcRoute>(GrpcRoute{}); });
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(listen), std::string::npos);
}

}  // namespace
}  // namespace takt::net
