// SPDX-License-Identifier: Apache-2.0
// The server and the client over TLS, with a certificate made for the test.
#include <fcntl.h>
#include <gtest/gtest.h>

#include "takt/base/process.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/net/client.h"
#include "takt/net/testing/raw_client.h"
#include "takt/net/testing/test_server.h"

namespace takt::net {
namespace {

class TlsTest : public ::testing::Test {
 protected:
  void SetUp() override {
    certificate_ = (folder_.path() / "cert.pem").string();
    key_ = (folder_.path() / "key.pem").string();
    auto made =
        run({.command = {"openssl", "req", "-x509", "-newkey", "ec", "-pkeyopt",
                         "ec_paramgen_curve:P-256", "-nodes", "-days", "2", "-subj",
                         "/CN=localhost", "-addext", "subjectAltName=IP:127.0.0.1,DNS:localhost",
                         "-keyout", key_, "-out", certificate_}},
            20'000);
    ASSERT_TRUE(made);
    ASSERT_EQ(made->exit_code, 0) << made->errors;
  }
  takt::testing::TempDir folder_;
  std::string certificate_;
  std::string key_;
  testing::TestServer host_;
};

TEST_F(TlsTest, requests_files_and_uploads_go_through) {
  std::string bytes(3'000'000, 'x');
  for (std::size_t i = 0; i < bytes.size(); i += 7) bytes[i] = static_cast<char>(i);
  std::string path = (folder_.path() / "file").string();
  ASSERT_TRUE(write_file_durably(path, bytes));
  RouteOptions stream{.body = BodyMode::kStream, .body_bytes_max = 100 << 20};
  host_.router.add(
      Method::kPut, "/up",
      [](Request& request) -> Result<Response> {
        std::string block(100'000, '\0');
        std::int64_t total = 0;
        while (true) {
          TAKT_ASSIGN(std::size_t got, request.stream->read(block));
          if (got == 0) return Response::json(Object{{"total", total}});
          total += static_cast<std::int64_t>(got);
        }
      },
      stream);
  host_.router.add(Method::kGet, "/file", [path, &bytes](Request&) -> Result<Response> {
    Response response;
    response.body = FileBody{Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), 0,
                             static_cast<std::int64_t>(bytes.size())};
    return response;
  });
  host_.options.tls = TlsFiles{certificate_, key_};
  std::string url = "https://127.0.0.1:" + std::to_string(host_.start());
  Client client({.base_url = url, .token = "good", .ca_file = certificate_});
  auto up =
      client.upload(Method::kPut, "/up", 3'000'000,
                    [](std::span<char> buffer) -> Result<std::size_t> { return buffer.size(); });
  ASSERT_TRUE(up) << up.error().text();
  EXPECT_EQ(up->body, "{\"total\":3000000}");
  std::string got;
  auto down = client.download("/file", [&got](std::string_view piece) {
    got += piece;
    return true;
  });
  ASSERT_TRUE(down) << down.error().text();
  EXPECT_TRUE(got == bytes);
}

TEST_F(TlsTest, an_unknown_authority_is_refused_and_plain_text_is_no_handshake) {
  host_.options.tls = TlsFiles{certificate_, key_};
  int port = host_.start();
  auto got = Client({.base_url = "https://127.0.0.1:" + std::to_string(port)}).get("/");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kUnavailable);
  EXPECT_NE(got.error().message.find("TLS"), std::string::npos);
  testing::RawClient plain(port);
  plain.send("GET / HTTP/1.1\r\nHost: localhost\r\n\r\n");
  EXPECT_EQ(plain.read().status, 0);
}

TEST_F(TlsTest, missing_files_are_named) {
  ServerOptions options;
  options.tls = TlsFiles{"/nowhere/cert.pem", key_};
  auto started = Server::start(options, host_.router, nullptr, system_clock());
  ASSERT_FALSE(started);
  EXPECT_NE(started.error().message.find("/nowhere/cert.pem"), std::string::npos);
}

}  // namespace
}  // namespace takt::net
