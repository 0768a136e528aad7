// SPDX-License-Identifier: Apache-2.0
// Streaming bodies both ways, async handlers, push streams, drain.
#include <gtest/gtest.h>

#include <atomic>
#include <condition_variable>
#include <mutex>
#include <thread>

#include "takt/base/digest.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/net/client.h"
#include "takt/net/testing/raw_client.h"
#include "takt/net/testing/test_server.h"

namespace takt::net {
namespace {

using testing::raw_request;
using testing::raw_text;
using testing::RawClient;
using testing::RawResponse;

// A door that one thread opens for others; every wait has an end.
class Gate {
 public:
  void open() {
    std::lock_guard lock(mutex_);
    is_open_ = true;
    changed_.notify_all();
  }
  bool wait(int seconds = 10) {
    std::unique_lock lock(mutex_);
    return changed_.wait_for(lock, std::chrono::seconds(seconds), [this] { return is_open_; });
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = false;
};

class StreamTest : public ::testing::Test {
 protected:
  RouteOptions anonymous(BodyMode body = BodyMode::kWhole) {
    return {.access = Access::kAnonymous, .body = body, .body_bytes_max = std::size_t{1} << 40};
  }
  void add_upload() {
    host_.router.add(
        Method::kPut, "/up",
        [](Request& request) -> Result<Response> {
          std::string block(100'000, '\0');
          Sha256 hash;
          std::int64_t total = 0;
          while (true) {
            TAKT_ASSIGN(std::size_t got, request.stream->read(block));
            if (got == 0) break;
            hash.update(std::string_view(block).substr(0, got));
            total += static_cast<std::int64_t>(got);
          }
          return Response::json(Object{{"digest", hash.finish().value},
                                       {"total", total},
                                       {"length", request.stream->length()}});
        },
        anonymous(BodyMode::kStream));
  }
  testing::TestServer host_;
};

std::string some_bytes(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>(i * 2654435761U >> 13);
  return bytes;
}

TEST_F(StreamTest, a_body_streams_in_with_a_length_and_in_chunks) {
  add_upload();
  int port = host_.start();
  std::string bytes = some_bytes(3'000'000);
  RawClient client(port);
  client.send(raw_text("PUT", "/up", "", bytes));
  Value got = parse_json(client.read().body).value();
  EXPECT_EQ(got.text_or("digest", ""), sha256(bytes).value);
  EXPECT_EQ(got.int_or("length", 0), 3'000'000);

  std::string chunked = "PUT /up HTTP/1.1\r\nHost: localhost\r\nTransfer-Encoding: chunked\r\n\r\n";
  for (std::size_t at = 0, size = 1; at < bytes.size();
       at += size, size = std::min(size * 3 + 1, bytes.size() - at)) {
    char line[32];
    std::snprintf(line, sizeof(line), "%zx\r\n", size);
    chunked += line + bytes.substr(at, size) + "\r\n";
    if (at + size == bytes.size()) break;
  }
  client.send(chunked + "0\r\n\r\n" + raw_text("GET", "/nothing"));
  got = parse_json(client.read().body).value();
  EXPECT_EQ(got.text_or("digest", ""), sha256(bytes).value);
  EXPECT_EQ(got.int_or("length", 0), -1);
  EXPECT_EQ(client.read().status, 404);  // the connection is still in step
}

TEST_F(StreamTest, a_handler_sees_that_the_client_left_amid_the_body) {
  Gate seen;
  host_.router.add(
      Method::kPut, "/up",
      [&seen](Request& request) -> Result<Response> {
        std::string block(1000, '\0');
        while (true) {
          auto got = request.stream->read(block);
          if (!got) {
            seen.open();
            return fail(got.error());
          }
          if (*got == 0) return Response::empty();
        }
      },
      anonymous(BodyMode::kStream));
  RawClient client(host_.start());
  client.send("PUT /up HTTP/1.1\r\nHost: localhost\r\nContent-Length: 5000\r\n\r\nabc");
  client.close();
  EXPECT_TRUE(seen.wait());
}

TEST_F(StreamTest, a_file_is_sent_from_its_offset) {
  testing::TestServer& host = host_;
  takt::testing::TempDir folder;
  std::string bytes = some_bytes(5'000'000);
  ASSERT_TRUE(write_file_durably(folder.path() / "f", bytes));
  std::string path = (folder.path() / "f").string();
  host.router.add(
      Method::kGet, "/file",
      [path](Request& request) -> Result<Response> {
        FILE* file = std::fopen(path.c_str(), "rb");
        Response response;
        TAKT_ASSIGN(std::int64_t length, request.query_integer("length", 4'000'000, 0, 9'000'000));
        response.body = FileBody{Fd(::dup(fileno(file))), 500'000, length};
        std::fclose(file);
        return response;
      },
      anonymous());
  int port = host.start();
  RawResponse got = raw_request(port, raw_text("GET", "/file"));
  EXPECT_EQ(got.headers.get("Content-Length"), "4000000");
  EXPECT_TRUE(got.body == bytes.substr(500'000, 4'000'000));
  EXPECT_EQ(raw_request(port, raw_text("HEAD", "/file")).headers.get("Content-Length"), "4000000");
  // A file that is shorter than promised may not look whole.
  EXPECT_FALSE(raw_request(port, raw_text("GET", "/file?length=6000000")).is_whole);
}

TEST_F(StreamTest, a_pulled_body_ends_well_only_when_its_source_did) {
  host_.router.add(
      Method::kGet, "/pull",
      [](Request& request) -> Result<Response> {
        bool fails = request.query_param("fail") == "1";
        Response response;
        response.body =
            PullBody([fails, left = 3](std::span<char> buffer) mutable -> Result<std::size_t> {
              if (left-- == 0) {
                if (fails) return fail(Code::kInternal, "source broke");
                return std::size_t{0};
              }
              std::fill(buffer.begin(), buffer.begin() + 1000, 'x');
              return std::size_t{1000};
            });
        return response;
      },
      anonymous());
  int port = host_.start();
  RawResponse got = raw_request(port, raw_text("GET", "/pull"));
  EXPECT_TRUE(got.is_whole);
  EXPECT_EQ(got.body, std::string(3000, 'x'));
  EXPECT_FALSE(raw_request(port, raw_text("GET", "/pull?fail=1")).is_whole);
  RawClient old(port);
  old.send("GET /pull HTTP/1.0\r\n\r\n");
  EXPECT_EQ(old.read().status, 403);  // no Host at all
  RawClient old2(port);
  old2.send("GET /pull HTTP/1.0\r\nHost: localhost\r\n\r\n");
  got = old2.read();
  EXPECT_FALSE(got.headers.has("Transfer-Encoding"));
  EXPECT_EQ(got.body.size(), 3000u);
}

class PushTest : public StreamTest {
 protected:
  int start() {
    host_.router.add(
        Method::kGet, "/push",
        [this](Request&) -> Result<Response> {
          Response response;
          response.headers.set("Content-Type", "text/event-stream");
          response.body = PushBody([this](std::shared_ptr<StreamSink> sink) {
            std::lock_guard lock(mutex_);
            sink_ = std::move(sink);
            has_sink_.open();
          });
          return response;
        },
        anonymous());
    return host_.start();
  }
  std::shared_ptr<StreamSink> sink() {
    EXPECT_TRUE(has_sink_.wait());
    std::lock_guard lock(mutex_);
    return sink_;
  }
  // True when the sink closes within ten seconds.
  static bool closes(StreamSink& sink) {
    Mono start = system_clock().mono();
    while (sink.is_open()) {
      if (system_clock().mono() - start > 10'000'000) return false;
      std::this_thread::yield();
    }
    return true;
  }
  std::mutex mutex_;
  std::shared_ptr<StreamSink> sink_;
  Gate has_sink_;
};

TEST_F(PushTest, events_go_out_as_they_are_sent_and_the_end_is_proper) {
  RawClient client(start());
  client.send(raw_text("GET", "/push"));
  EXPECT_TRUE(sink()->send(sse_frame("", "1", "one")));
  EXPECT_NE(client.read_until("data: one\n\n").find("data: one\n\n"), std::string::npos);
  EXPECT_TRUE(sink()->send(sse_frame("", "2", "two")));
  EXPECT_NE(client.read_until("data: two\n\n").find("data: two\n\n"), std::string::npos);
  sink()->close();
  RawResponse got = client.read();
  EXPECT_TRUE(got.is_whole);
  EXPECT_EQ(got.body, "id: 1\ndata: one\n\nid: 2\ndata: two\n\n");
  EXPECT_FALSE(sink()->send("late"));
}

TEST_F(PushTest, a_client_that_leaves_closes_the_sink) {
  RawClient client(start());
  client.send(raw_text("GET", "/push"));
  auto held = sink();
  EXPECT_TRUE(held->is_open());
  client.close();
  EXPECT_TRUE(closes(*held));
}

TEST_F(PushTest, a_reader_that_falls_behind_is_cut_off) {
  RawClient client(start());
  client.send(raw_text("GET", "/push"));
  auto held = sink();
  std::string block(64 << 10, 'x');
  int sent = 0;
  while (held->send(block) && sent < 10'000) ++sent;
  EXPECT_LT(sent, 10'000);
  EXPECT_FALSE(held->is_open());
  EXPECT_FALSE(client.read().is_whole);
}

TEST_F(PushTest, drain_closes_push_streams_and_idle_connections_at_once) {
  int port = start();
  RawClient client(port);
  client.send(raw_text("GET", "/push"));
  auto held = sink();
  RawClient idle(port);
  idle.send(raw_text("GET", "/nothing"));
  EXPECT_EQ(idle.read().status, 404);
  host_.server->drain(5'000);
  EXPECT_FALSE(held->is_open());
  EXPECT_TRUE(client.read().is_whole);
  EXPECT_TRUE(idle.is_closed_by_server());
  EXPECT_EQ(host_.server->stats().connections, 0);
}

TEST_F(StreamTest, drain_lets_requests_in_flight_end_and_takes_no_more) {
  Gate entered;
  Gate leave;
  host_.router.add(
      Method::kGet, "/slow",
      [&](Request&) -> Result<Response> {
        entered.open();
        leave.wait();
        return Response::text("done");
      },
      anonymous());
  int port = host_.start();
  RawClient client(port);
  client.send(raw_text("GET", "/slow"));
  ASSERT_TRUE(entered.wait());
  std::thread drain([&] { host_.server->drain(10'000); });
  while (RawClient(port).is_connected()) std::this_thread::yield();
  leave.open();
  RawResponse got = client.read();
  EXPECT_EQ(got.body, "done");
  EXPECT_EQ(got.headers.get("Connection"), "close");
  drain.join();
  EXPECT_EQ(host_.server->stats().connections, 0);
}

TEST_F(StreamTest, a_full_worker_queue_answers_busy) {
  Gate leave;
  Gate entered;
  host_.options.worker_threads = 1;
  host_.options.worker_queue_max = 1;
  host_.router.add(
      Method::kGet, "/slow",
      [&](Request&) -> Result<Response> {
        entered.open();
        leave.wait();
        return Response::empty();
      },
      anonymous());
  int port = host_.start();
  RawClient first(port);
  first.send(raw_text("GET", "/slow"));
  ASSERT_TRUE(entered.wait());
  std::vector<std::unique_ptr<RawClient>> others;
  for (int i = 0; i < 2; ++i) {
    others.push_back(std::make_unique<RawClient>(port, 200));
    others.back()->send(raw_text("GET", "/slow"));
  }
  RawResponse a = others[0]->read();
  RawResponse b = others[1]->read();
  const RawResponse& refused = a.status == 503 ? a : b;
  EXPECT_EQ(refused.status, 503);
  EXPECT_EQ(refused.headers.get("Retry-After"), "1");
  leave.open();
  EXPECT_EQ(first.read().status, 204);
}

TEST_F(StreamTest, an_async_handler_answers_from_any_thread_once) {
  std::vector<std::thread> threads;
  host_.router.add_async(
      Method::kPost, "/now",
      [](std::shared_ptr<Request> request, Responder respond) {
        respond(Response::text(request->body));
        respond(Response::text("again"));
      },
      anonymous());
  host_.router.add_async(
      Method::kGet, "/later",
      [&](std::shared_ptr<Request>, Responder respond) {
        threads.emplace_back([respond = std::move(respond)] { respond(Response::text("later")); });
      },
      anonymous());
  host_.router.add_async(
      Method::kGet, "/never", [](std::shared_ptr<Request>, Responder) {}, anonymous());
  RouteOptions hasty = anonymous();
  hasty.deadline_ms = 50;
  std::vector<Responder> kept;
  host_.router.add_async(
      Method::kGet, "/stuck",
      [&](std::shared_ptr<Request>, Responder respond) { kept.push_back(std::move(respond)); },
      hasty);
  RawClient client(host_.start());
  client.send(raw_text("POST", "/now", "", "hello") + raw_text("GET", "/later") +
              raw_text("GET", "/never") + raw_text("GET", "/stuck") +
              raw_text("POST", "/now", "", "end"));
  EXPECT_EQ(client.read().body, "hello");
  EXPECT_EQ(client.read().body, "later");
  EXPECT_EQ(client.read().status, 500);
  EXPECT_EQ(client.read().status, 504);
  EXPECT_EQ(client.read().body, "end");
  kept[0](Response::text("too late"));
  for (auto& thread : threads) thread.join();
}

TEST_F(StreamTest, an_async_handler_learns_that_its_client_left) {
  Gate entered;
  Gate gone;
  std::mutex mutex;
  std::vector<Responder> kept;
  std::shared_ptr<Request> held;
  host_.router.add_async(
      Method::kGet, "/wait",
      [&](std::shared_ptr<Request> request, Responder respond) {
        request->client->on_gone([&] { gone.open(); });
        std::lock_guard lock(mutex);
        held = request;
        kept.push_back(std::move(respond));
        entered.open();
      },
      anonymous());
  RawClient client(host_.start());
  client.send(raw_text("GET", "/wait"));
  ASSERT_TRUE(entered.wait());
  client.close();
  EXPECT_TRUE(gone.wait());
  std::lock_guard lock(mutex);
  EXPECT_TRUE(held->client->is_gone());
  kept[0](Response::empty());
}

TEST_F(StreamTest, the_client_talks_json_and_understands_errors) {
  host_.router.add(Method::kPost, "/p/json", [](Request& request) -> Result<Response> {
    TAKT_ASSIGN(Value body, request.json());
    body["user"] = request.caller.user.value;
    return Response::json(body, 201);
  });
  host_.router.add(Method::kGet, "/p/fails", [](Request&) -> Result<Response> {
    return fail(Code::kExhausted, "the disk is full", "make room", "spec.x");
  });
  add_upload();
  host_.router.add(Method::kPut, "/p/refused",
                   [](Request&) -> Result<Response> { return Response::empty(); },
                   {.body = BodyMode::kStream, .body_bytes_max = 1000});
  std::string url = "http://127.0.0.1:" + std::to_string(host_.start());
  Client client({.base_url = url + "/p/", .token = "good"});
  Value got = client.post("/json", Object{{"a", 1}}).value();
  EXPECT_EQ(got.text_or("user", ""), "tester");
  auto failed = client.get("/fails");
  ASSERT_FALSE(failed);
  EXPECT_EQ(failed.error().code, Code::kExhausted);
  EXPECT_EQ(failed.error().hint, "make room");
  EXPECT_EQ(failed.error().field, "spec.x");
  EXPECT_EQ(Client({.base_url = url}).post("/p/json", Object{}).error().code,
            Code::kUnauthenticated);

  std::string bytes = some_bytes(2'000'000);
  auto source = [&bytes,
                 at = std::size_t{0}](std::span<char> buffer) mutable -> Result<std::size_t> {
    std::size_t size = std::min(buffer.size(), bytes.size() - at);
    std::copy_n(bytes.data() + at, size, buffer.data());
    at += size;
    return size;
  };
  auto up = Client({.base_url = url}).upload(Method::kPut, "/up", 2'000'000, source).value();
  EXPECT_EQ(parse_json(up.body).value().text_or("digest", ""), sha256(bytes).value);
  auto refused =
      client.upload(Method::kPut, "/refused", 1 << 30,
                    [](std::span<char> buffer) -> Result<std::size_t> { return buffer.size(); });
  ASSERT_TRUE(refused) << refused.error().text();
  EXPECT_EQ(refused->status, 413);
}

TEST_F(StreamTest, the_client_says_when_nobody_answers) {
  auto got = Client({.base_url = "http://127.0.0.1:1"}).get("/");
  ASSERT_FALSE(got);
  EXPECT_EQ(got.error().code, Code::kUnavailable);
  EXPECT_NE(got.error().message.find("http://127.0.0.1:1"), std::string::npos);
}

TEST(ClientErrorTest, errors_of_all_three_protocols_are_read) {
  auto of = [](int status, std::string body) {
    return error_from_response({status, {}, std::move(body)});
  };
  Error error = of(404, R"({"error":{"code":"not_found","message":"no job 7","hint":"look"}})");
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_EQ(error.message, "no job 7");
  error = of(404, R"({"error_code":"RESOURCE_DOES_NOT_EXIST","message":"no run"})");
  EXPECT_EQ(error.code, Code::kNotFound);
  EXPECT_EQ(error.message, "no run");
  error = of(400, R"({"error":"bad tensor"})");
  EXPECT_EQ(error.code, Code::kInvalid);
  EXPECT_EQ(error.message, "bad tensor");
  EXPECT_EQ(of(502, "<html>").code, Code::kUnavailable);
}

}  // namespace
}  // namespace takt::net
