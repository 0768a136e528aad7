// SPDX-License-Identifier: Apache-2.0
// A small proxy over UpstreamPool, before real and misbehaving servers.
#include "takt/net/upstream.h"

#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>

#include <atomic>
#include <future>
#include <thread>

#include "takt/net/testing/raw_client.h"
#include "takt/net/testing/test_server.h"

namespace takt::net {
namespace {

using testing::raw_request;
using testing::raw_text;
using testing::RawClient;
using testing::RawResponse;

// Accepts connections and answers each request head with the next script line; "" closes.
class ScriptedServer {
 public:
  explicit ScriptedServer(std::vector<std::string> answers) : answers_(std::move(answers)) {
    listener_ = Fd(::socket(AF_INET, SOCK_STREAM, 0));
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    socklen_t size = sizeof(address);
    ::bind(listener_.get(), reinterpret_cast<sockaddr*>(&address), size);
    ::listen(listener_.get(), 8);
    ::getsockname(listener_.get(), reinterpret_cast<sockaddr*>(&address), &size);
    target = "127.0.0.1:" + std::to_string(ntohs(address.sin_port));
    thread_ = std::thread([this] { serve(); });
  }
  ~ScriptedServer() {
    ::shutdown(listener_.get(), SHUT_RDWR);
    thread_.join();
  }
  std::string target;
  std::atomic<int> accepted = 0;
  std::atomic<int> requests = 0;

 private:
  void serve() {
    std::size_t next = 0;
    while (next < answers_.size()) {
      Fd peer(::accept(listener_.get(), nullptr, nullptr));
      if (!peer) return;
      ++accepted;
      std::string got;
      char block[4096];
      while (next < answers_.size()) {
        ssize_t size = ::recv(peer.get(), block, sizeof(block), 0);
        if (size <= 0) break;
        got.append(block, static_cast<std::size_t>(size));
        if (got.find("\r\n\r\n") == std::string::npos) continue;
        got.clear();
        ++requests;
        std::string answer = answers_[next++];
        bool closes = answer.ends_with("!");
        if (closes) answer.pop_back();
        ::send(peer.get(), answer.data(), answer.size(), MSG_NOSIGNAL);
        if (closes) break;
      }
    }
  }
  std::vector<std::string> answers_;
  Fd listener_;
  std::thread thread_;
};

const std::string kOk = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nok";

class UpstreamTest : public ::testing::Test {
 protected:
  UpstreamResult ask(const std::string& target, std::int64_t timeout_ms = 5'000) {
    std::promise<UpstreamResult> promise;
    UpstreamRequest request;
    request.target = target;
    request.method = Method::kGet;
    request.timeout_ms = timeout_ms;
    pool_.send(std::move(request),
               [&](UpstreamResult result) { promise.set_value(std::move(result)); });
    return promise.get_future().get();
  }
  UpstreamPool pool_{system_clock()};
};

TEST_F(UpstreamTest, a_connection_is_used_again) {
  ScriptedServer server(
      {kOk, "HTTP/1.1 100 Continue\r\n\r\n" + kOk,
       "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n0\r\n\r\n",
       "HTTP/1.1 404 No\r\nX-A: b\r\nConnection: close\r\n\r\ntill the end!"});
  EXPECT_EQ(ask(server.target).response->body, "ok");
  EXPECT_EQ(ask(server.target).response->body, "ok");
  EXPECT_EQ(ask(server.target).response->body, "abc");
  UpstreamResult last = ask(server.target);
  EXPECT_EQ(last.response->status, 404);
  EXPECT_EQ(last.response->body, "till the end");
  EXPECT_EQ(last.response->headers.get("X-A"), "b");
  EXPECT_FALSE(last.response->headers.has("Connection"));
  EXPECT_EQ(server.accepted, 1);
}

TEST_F(UpstreamTest, a_used_connection_that_was_closed_is_replaced_once) {
  // The second request reaches a server that reads it and closes without a byte.
  ScriptedServer server({kOk, "!", kOk, "!", "!"});
  EXPECT_TRUE(ask(server.target).response);
  EXPECT_EQ(ask(server.target).response->body, "ok");
  EXPECT_EQ(server.requests, 3);
  UpstreamResult failed = ask(server.target);  // closed on the used and on the fresh connection
  ASSERT_FALSE(failed.response);
  EXPECT_EQ(failed.response.error().code, Code::kUnavailable);
  EXPECT_TRUE(failed.may_have_run);
  EXPECT_EQ(server.requests, 5);
}

TEST_F(UpstreamTest, a_cut_answer_is_never_asked_for_again) {
  ScriptedServer server({kOk, "HTTP/1.1 200 OK\r\nContent-Length: 10\r\n\r\nabc!", kOk});
  EXPECT_TRUE(ask(server.target).response);
  UpstreamResult failed = ask(server.target);
  EXPECT_FALSE(failed.response);
  EXPECT_TRUE(failed.may_have_run);
  EXPECT_EQ(server.requests, 2);
}

TEST_F(UpstreamTest, no_server_no_answer_and_nonsense_are_told_apart) {
  UpstreamResult refused = ask("127.0.0.1:1");
  EXPECT_EQ(refused.response.error().code, Code::kUnavailable);
  EXPECT_FALSE(refused.may_have_run);
  EXPECT_EQ(ask("nowhere").response.error().code, Code::kInvalid);
  ScriptedServer silent({"", ""});
  UpstreamResult late = ask(silent.target, 50);
  EXPECT_EQ(late.response.error().code, Code::kTimeout);
  EXPECT_TRUE(late.may_have_run);
  ScriptedServer odd({"SSH-2.0-nonsense\r\n\r\n!"});
  EXPECT_EQ(ask(odd.target).response.error().code, Code::kUnavailable);
}

class ProxyTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RouteOptions anonymous{.access = Access::kAnonymous, .body_bytes_max = 64 << 20};
    back_.router.add_async(
        Method::kPost, "/echo",
        [](std::shared_ptr<Request> request, Responder respond) {
          Response response = Response::bytes(request->body, "application/octet-stream");
          response.headers.set("X-Seen", std::string(request->headers.get("X-Sent")));
          respond(std::move(response));
        },
        anonymous);
    back_.router.add_async(
        Method::kPost, "/hold",
        [this](std::shared_ptr<Request> request, Responder respond) {
          request->client->on_gone([this] { gone_.set_value(); });
          held_.push_back(std::move(respond));
          entered_.set_value();
        },
        anonymous);
    target_ = "127.0.0.1:" + std::to_string(back_.start());
    front_.router.add_async(
        Method::kPost, "/{path...}",
        [this](std::shared_ptr<Request> request, Responder respond) {
          UpstreamRequest forward;
          forward.target = target_;
          forward.path = request->target;
          forward.headers = request->headers;
          forward.body = request->body;
          forward.keep = request;
          auto call = pool_.send(std::move(forward), [respond](UpstreamResult result) {
            if (!result.response) return respond(Response::error(result.response.error(), ""));
            respond({.status = result.response->status,
                     .headers = result.response->headers,
                     .body = result.response->body});
          });
          request->client->on_gone([call] { call->cancel(); });
        },
        anonymous);
    front_port_ = front_.start();
  }
  void TearDown() override {
    front_.server = nullptr;
    back_.server = nullptr;
  }
  std::promise<void> entered_;
  std::promise<void> gone_;
  std::vector<Responder> held_;
  UpstreamPool pool_{system_clock()};
  testing::TestServer back_;
  testing::TestServer front_;
  std::string target_;
  int front_port_ = 0;
};

TEST_F(ProxyTest, requests_pass_through_with_their_headers) {
  RawClient client(front_port_);
  for (std::size_t size : {0, 10, 100'000, 3'000'000}) {
    std::string body(size, 'x');
    client.send(raw_text("POST", "/echo", "X-Sent: " + std::to_string(size) + "\r\n", body));
    RawResponse got = client.read();
    EXPECT_EQ(got.status, 200);
    EXPECT_TRUE(got.body == body) << size;
    EXPECT_EQ(got.headers.get("X-Seen"), std::to_string(size));
  }
  EXPECT_EQ(back_.server->stats().connections, 1);
}

TEST_F(ProxyTest, a_client_that_leaves_ends_the_upstream_request) {
  RawClient client(front_port_);
  client.send(raw_text("POST", "/hold", "", "x"));
  entered_.get_future().wait();
  client.close();
  EXPECT_EQ(gone_.get_future().wait_for(std::chrono::seconds(10)), std::future_status::ready);
}

TEST_F(ProxyTest, a_server_that_is_gone_gives_unavailable) {
  back_.server = nullptr;
  EXPECT_EQ(raw_request(front_port_, raw_text("POST", "/echo", "", "x")).status, 503);
}

}  // namespace
}  // namespace takt::net
