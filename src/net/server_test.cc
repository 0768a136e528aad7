// SPDX-License-Identifier: Apache-2.0
// The filter, framing and limits, over real sockets with exact bytes.
#include <gtest/gtest.h>

#include <atomic>

#include "takt/net/testing/raw_client.h"
#include "takt/net/testing/test_server.h"

namespace takt::net {
namespace {

using testing::raw_request;
using testing::raw_text;
using testing::RawClient;
using testing::RawResponse;

constexpr std::string_view kGood = "Authorization: Bearer good\r\n";

class ServerTest : public ::testing::Test {
 protected:
  void SetUp() override {
    RouteOptions anonymous{.access = Access::kAnonymous};
    host_.router.add(
        Method::kGet, "/open", [](Request&) -> Result<Response> { return Response::text("open"); },
        anonymous);
    host_.router.add(Method::kPost, "/echo",
                     [this](Request& request) -> Result<Response> {
                       ++calls_;
                       return Response::bytes(request.body, "application/octet-stream");
                     },
                     {.access = Access::kAnonymous, .body_bytes_max = 1000});
    host_.router.add(Method::kGet, "/secret/{name}", [this](Request& request) -> Result<Response> {
      ++calls_;
      return Response::text(request.caller.user.value + ":" + request.path_param("name"));
    });
    host_.router.add(Method::kPost, "/secret/{name}", [this](Request&) -> Result<Response> {
      ++calls_;
      return Response::json(Object{{"done", true}}, 201);
    });
    host_.router.add(
        Method::kGet, "/fails",
        [](Request&) -> Result<Response> {
          return fail(Code::kConflict, "job 3 has ended", "start it again");
        },
        anonymous);
    host_.router.set_error_form("/api/2.0", [](const Error& error, const Request&) {
      return Response::json(Object{{"error_code", code_names(error.code).mlflow}},
                            code_names(error.code).http_status);
    });
    host_.router.add(Method::kGet, "/api/2.0/thing",
                     [](Request&) -> Result<Response> { return Response::empty(); },
                     {.body_bytes_max = 10});
    host_.options.idle_timeout_ms = 2'000;
    host_.options.transfer_timeout_ms = 300;
    port_ = host_.start();
  }
  testing::TestServer host_;
  std::atomic<int> calls_ = 0;
  int port_ = 0;
};

TEST_F(ServerTest, a_response_carries_the_safety_headers_and_an_exact_content_type) {
  RawResponse got = raw_request(port_, raw_text("POST", "/secret/x", kGood));
  EXPECT_EQ(got.status, 201);
  EXPECT_EQ(got.headers.get("Content-Type"), "application/json");
  EXPECT_EQ(got.headers.get("X-Content-Type-Options"), "nosniff");
  EXPECT_EQ(got.headers.get("X-Frame-Options"), "DENY");
  EXPECT_TRUE(got.headers.has("Referrer-Policy"));
  EXPECT_TRUE(got.headers.has("X-Request-Id"));
  EXPECT_TRUE(got.headers.has("Date"));
  EXPECT_EQ(got.body, "{\"done\":true}");
}

TEST_F(ServerTest, a_length_beyond_every_number_is_over_the_limit_and_read_by_nobody) {
  for (const char* length :
       {"1001", "9223372036854775807", "9223372036854775808", "18446744073709551615"}) {
    SCOPED_TRACE(length);
    const std::string header = "Content-Length: " + std::string(length) + "\r\n";
    EXPECT_EQ(raw_request(port_, raw_text("POST", "/echo", header)).status, 413);
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(ServerTest, an_error_has_the_form_of_its_route) {
  RawResponse got = raw_request(port_, raw_text("GET", "/fails"));
  EXPECT_EQ(got.status, 409);
  Value body = parse_json(got.body).value();
  EXPECT_EQ(body["error"].text_or("code", ""), "conflict");
  EXPECT_EQ(body["error"].text_or("hint", ""), "start it again");
  EXPECT_EQ(body["error"].text_or("request_id", ""), got.headers.get("X-Request-Id"));

  got = raw_request(port_, raw_text("GET", "/api/2.0/thing"));
  EXPECT_EQ(got.status, 401);
  EXPECT_TRUE(parse_json(got.body).value().has("error_code"));
  got = raw_request(port_, raw_text("GET", "/api/2.0/nothing"));
  EXPECT_EQ(got.status, 404);
  EXPECT_TRUE(parse_json(got.body).value().has("error_code"));
  got = raw_request(port_, raw_text("GET", "/api/2.0/thing", kGood, "more than ten bytes"));
  EXPECT_EQ(got.status, 413);
  EXPECT_TRUE(parse_json(got.body).value().has("error_code"));
}

TEST_F(ServerTest, an_escaped_slash_stays_inside_a_parameter_and_plus_is_kept) {
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/secret/a%2Fb+c%20d", kGood)).body,
            "tester:a/b+c d");
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/secret/a/b", kGood)).status, 404);
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/secret/%00", kGood)).status, 400);
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/secret/%zz", kGood)).status, 400);
}

TEST_F(ServerTest, wrong_methods_and_options_name_the_allowed_ones) {
  RawResponse got = raw_request(port_, raw_text("PUT", "/secret/x", kGood));
  EXPECT_EQ(got.status, 405);
  EXPECT_EQ(got.headers.get("Allow"), "GET, HEAD, POST, OPTIONS");
  got = raw_request(port_, raw_text("OPTIONS", "/open"));
  EXPECT_EQ(got.status, 204);
  EXPECT_EQ(got.headers.get("Allow"), "GET, HEAD, OPTIONS");
  got = raw_request(port_, raw_text("HEAD", "/open"));
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.headers.get("Content-Length"), "4");
  EXPECT_EQ(raw_request(port_, raw_text("BREW", "/open")).status, 501);
}

TEST_F(ServerTest, foreign_hosts_are_refused_by_name) {
  RawResponse got = raw_request(port_, "GET /open HTTP/1.1\r\nHost: evil.example\r\n\r\n");
  EXPECT_EQ(got.status, 403);
  EXPECT_NE(got.body.find("evil.example"), std::string::npos);
  EXPECT_NE(got.body.find("allowed_hosts"), std::string::npos);
  for (const char* host : {"localhost:8700", "127.0.0.1", "[::1]:80", "LOCALHOST"}) {
    std::string text = std::string("GET /open HTTP/1.1\r\nHost: ") + host + "\r\n\r\n";
    EXPECT_EQ(raw_request(port_, text).status, 200) << host;
  }
  for (const char* host :
       {"localhost.evil.example", "127.0.0.1.evil.example", "evil.example@localhost", "[::1"}) {
    std::string text = std::string("GET /open HTTP/1.1\r\nHost: ") + host + "\r\n\r\n";
    EXPECT_EQ(raw_request(port_, text).status, 403) << host;
  }
}

TEST_F(ServerTest, unsafe_methods_from_other_sites_are_refused) {
  EXPECT_EQ(
      raw_request(port_, raw_text("POST", "/echo", "Origin: http://evil.example\r\n", "x")).status,
      403);
  EXPECT_EQ(raw_request(port_, raw_text("POST", "/echo", "Origin: null\r\n", "x")).status, 403);
  EXPECT_EQ(
      raw_request(port_, raw_text("POST", "/echo", "Sec-Fetch-Site: cross-site\r\n", "x")).status,
      403);
  EXPECT_EQ(
      raw_request(port_, raw_text("POST", "/echo", "Sec-Fetch-Site: same-site\r\n", "x")).status,
      403);
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(raw_request(
                port_, raw_text("POST", "/echo",
                                "Origin: http://localhost\r\nSec-Fetch-Site: same-origin\r\n", "x"))
                .status,
            200);
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/open", "Sec-Fetch-Site: cross-site\r\n")).status,
            200);
}

TEST_F(ServerTest, without_credentials_the_answer_comes_before_the_body) {
  RawClient client(port_);
  client.send(
      "POST /secret/x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 500000000\r\n\r\nonly this");
  RawResponse got = client.read();
  EXPECT_EQ(got.status, 401);
  EXPECT_EQ(got.headers.get("WWW-Authenticate"), "Bearer");
  EXPECT_EQ(got.headers.get("Connection"), "close");
  EXPECT_EQ(calls_, 0);
}

TEST_F(ServerTest, no_route_is_open_to_anyone_unless_it_says_so) {
  EXPECT_EQ(testing::routes_open_to_anyone(host_.router, port_), std::vector<std::string>{});
  EXPECT_EQ(calls_, 0);
}

TEST_F(ServerTest, a_body_over_the_limit_is_refused_before_it_is_read) {
  RawClient client(port_);
  client.send(
      "POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
      "1001\r\n\r\n");
  RawResponse got = client.read();
  EXPECT_EQ(got.status, 413);
  EXPECT_NE(got.body.find("1000"), std::string::npos);
  EXPECT_TRUE(client.is_closed_by_server());

  got = raw_request(
      port_, "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n3ea\r\n" +
                 std::string(1002, 'x') + "\r\n0\r\n\r\n");
  EXPECT_EQ(got.status, 413);
  EXPECT_EQ(calls_, 0);
}

TEST_F(ServerTest, the_continue_is_sent_only_when_the_body_is_wanted) {
  for (const char* framing : {"Content-Length: 2\r\n\r\n", "Transfer-Encoding: chunked\r\n\r\n"}) {
    RawClient client(port_);
    client.send(std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\n") +
                framing);
    EXPECT_EQ(client.read().status, 100);
    client.send(framing[0] == 'C' ? "ab" : "2\r\nab\r\n0\r\n\r\n");
    RawResponse got = client.read();
    EXPECT_EQ(got.status, 200);
    EXPECT_EQ(got.body, "ab");
  }
  RawClient client(port_);
  client.send(
      "POST /secret/x HTTP/1.1\r\nHost: localhost\r\nExpect: 100-continue\r\nContent-Length: "
      "2\r\n\r\n");
  EXPECT_EQ(client.read().status, 401);
}

TEST_F(ServerTest, ambiguous_framing_is_refused_and_ends_the_connection) {
  for (const char* lines : {
           "Content-Length: 4\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: chunked\r\nContent-Length: 4\r\n",
           "Content-Length: 4\r\nContent-Length: 4\r\n",
           "Content-Length: 4\r\nContent-Length: 5\r\n",
           "Content-Length: 4, 4\r\n",
           "Content-Length: 4xyz\r\n",
           "Content-Length: -4\r\n",
           "Content-Length: +4\r\n",
           "Content-Length: 0x4\r\n",
           "Content-Length: 99999999999999999999\r\n",
           "Transfer-Encoding: gzip, chunked\r\n",
           "Transfer-Encoding: identity\r\n",
           "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked\r\n",
           "Transfer-Encoding: xchunked\r\n",
           "Content-Length : 4\r\n",
           "Host: localhost\r\n",
           "bad header\r\n",
       }) {
    RawClient client(port_);
    client.send(std::string("POST /echo HTTP/1.1\r\nHost: localhost\r\n") + lines +
                "\r\nGET /open HTTP/1.1\r\n\r\n");
    EXPECT_EQ(client.read().status, 400) << lines;
    EXPECT_TRUE(client.is_closed_by_server()) << lines;
  }
  EXPECT_EQ(calls_, 0);
  EXPECT_EQ(raw_request(port_, "GET /open HTTP/1.1\r\n\r\n").status, 400);
}

TEST_F(ServerTest, chunked_bodies_are_decoded_and_bad_ones_refused) {
  std::string head = "POST /echo HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: Chunked\r\n\r\n";
  RawClient client(port_);
  for (char c : head + "3;name=value\r\nabc\r\n1\r\nd\r\n0\r\nTrailer: x\r\n\r\n")
    client.send({&c, 1});
  RawResponse got = client.read();
  EXPECT_EQ(got.status, 200);
  EXPECT_EQ(got.body, "abcd");
  client.send(raw_text("GET", "/open"));
  EXPECT_EQ(client.read().body, "open");
  EXPECT_EQ(raw_request(port_, head + "zz\r\nabc\r\n0\r\n\r\n").status, 400);
  EXPECT_EQ(raw_request(port_, head + "3\r\nabcd\r\n0\r\n\r\n").status, 400);
  EXPECT_EQ(calls_, 1);
}

TEST_F(ServerTest, large_headers_and_long_paths_are_refused) {
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/open", "X: " + std::string(70'000, 'a') + "\r\n"))
                .status,
            431);
  std::string many;
  for (int i = 0; i < 3'000; ++i)
    many += "X-" + std::to_string(i) + ": " + std::string(30, 'a') + "\r\n";
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/open", many)).status, 431);
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/open", "X: " + std::string(50'000, 'a') + "\r\n"))
                .status,
            200);
  EXPECT_EQ(raw_request(port_, raw_text("GET", "/a/" + std::string(30'000, 'a') + "/b")).status,
            414);
}

TEST_F(ServerTest, pipelined_requests_are_answered_in_order) {
  RawClient client(port_);
  client.send(raw_text("GET", "/open") + raw_text("POST", "/echo", "", "one") +
              raw_text("GET", "/secret/n", kGood) + raw_text("GET", "/nothing") +
              raw_text("POST", "/echo", "", "two"));
  EXPECT_EQ(client.read().body, "open");
  EXPECT_EQ(client.read().body, "one");
  EXPECT_EQ(client.read().body, "tester:n");
  EXPECT_EQ(client.read().status, 404);
  EXPECT_EQ(client.read().body, "two");
}

TEST_F(ServerTest, a_small_unread_body_is_skipped_and_the_connection_stays) {
  RawClient client(port_);
  client.send(raw_text("POST", "/nothing", "", std::string(2'000, 'x')) + raw_text("GET", "/open"));
  EXPECT_EQ(client.read().status, 404);
  EXPECT_EQ(client.read().body, "open");
}

TEST_F(ServerTest, http_1_0_closes_unless_asked_to_stay) {
  RawClient client(port_);
  client.send("GET /open HTTP/1.0\r\nConnection: keep-alive\r\nHost: localhost\r\n\r\n");
  RawResponse got = client.read();
  EXPECT_EQ(got.body, "open");
  EXPECT_EQ(got.headers.get("Connection"), "keep-alive");
  client.send("GET /open HTTP/1.0\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(client.read().body, "open");
  EXPECT_TRUE(client.is_closed_by_server());
}

TEST_F(ServerTest, slow_heads_and_bodies_are_cut_off_whatever_trickles) {
  for (const char* start :
       {"GET /open HTTP/1.1\r\nHost: localhost\r\nX: ",
        "POST /echo HTTP/1.1\r\nHost: localhost\r\nContent-Length: 900\r\n\r\n"}) {
    RawClient client(port_, 50);
    client.send(start);
    Mono begin = system_clock().mono();
    bool is_closed = false;
    while (!is_closed && system_clock().mono() - begin < 5'000'000) {
      client.send("a");
      is_closed = client.is_closed_by_server();  // waits 50 ms
    }
    EXPECT_TRUE(is_closed) << start;
    EXPECT_LT(system_clock().mono() - begin, 1'500'000) << start;
  }
  EXPECT_EQ(calls_, 0);
}

TEST_F(ServerTest, the_address_in_use_is_named) {
  ServerOptions options;
  options.listen = "127.0.0.1:" + std::to_string(port_);
  auto second = Server::start(options, host_.router, nullptr, system_clock());
  ASSERT_FALSE(second);
  EXPECT_NE(second.error().message.find(options.listen), std::string::npos);
  options.listen = "nowhere";
  EXPECT_EQ(Server::start(options, host_.router, nullptr, system_clock()).error().code,
            Code::kInvalid);
}

}  // namespace
}  // namespace takt::net
