// SPDX-License-Identifier: Apache-2.0
// The whole server over real sockets: the protocol's traps as far as they show on HTTP and gRPC.
#include "takt/serve/server.h"

#include <grpcpp/grpcpp.h>
#include <gtest/gtest.h>

#include <cstring>
#include <fstream>
#include <thread>

#include "open_inference.grpc.pb.h"

#include "takt/base/file.h"
#include "takt/base/testing/temp_dir.h"
#include "takt/net/client.h"
#include "takt/net/compression.h"
#include "takt/serve/binary_tensor.h"
#include "takt/serve/testing/test_models.h"

namespace takt::serve {
namespace {

using net::ClientResponse;
using net::Headers;
using net::Method;

InferOptions options_for(const std::string& model) {
  return {.model = testing::model_path(model),
          .model_name = model,
          .http_port = 0,
          .grpc_port = 0,
          .batch_rows_max = 8,
          .revision = "3"};
}

/// A server with one model, and clients of both protocols.
class Serving {
 public:
  explicit Serving(InferOptions options) {
    auto listening = InferServer::listen(std::move(options), system_clock());
    EXPECT_TRUE(listening) << listening.error().text();
    server = std::move(*listening);
    http = std::make_unique<net::Client>(
        net::ClientOptions{.base_url = "http://127.0.0.1:" + std::to_string(server->http_port())});
    if (server->grpc_port() > 0)
      stub = inference::GRPCInferenceService::NewStub(grpc::CreateChannel(
          "127.0.0.1:" + std::to_string(server->grpc_port()), grpc::InsecureChannelCredentials()));
  }
  explicit Serving(const std::string& model) : Serving(options_for(model)) {
    const Status loaded = server->load([] { return false; });
    EXPECT_TRUE(loaded) << loaded.error().text();
  }

  ClientResponse get(const std::string& path) { return send(Method::kGet, path, {}); }
  ClientResponse post(const std::string& path, const std::string& body,
                      const Headers& headers = {}) {
    return send(Method::kPost, path, body, headers);
  }
  ClientResponse send(Method method, const std::string& path, const std::string& body,
                      const Headers& headers = {}) {
    auto response = http->send(method, path, body, "application/json", headers);
    EXPECT_TRUE(response) << response.error().text();
    return response ? std::move(*response) : ClientResponse{};
  }

  std::unique_ptr<InferServer> server;
  std::unique_ptr<net::Client> http;
  std::unique_ptr<inference::GRPCInferenceService::Stub> stub;
};

Value json_of(const ClientResponse& response) {
  auto value = parse_json(response.body);
  EXPECT_TRUE(value) << response.body;
  return value ? std::move(*value) : Value();
}

std::string error_of(const ClientResponse& response) {
  return json_of(response).text_or("error", "");
}

struct LinearServer : ::testing::Test {
  static void SetUpTestSuite() { serving = new Serving("linear"); }
  static void TearDownTestSuite() {
    delete serving;
    serving = nullptr;
  }
  static Serving* serving;
  static constexpr const char* kInfer = "/v2/models/linear/infer";
  static constexpr const char* kOneRow =
      R"({"id":"q1","inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,0,0,0]}]})";
};
Serving* LinearServer::serving = nullptr;

TEST_F(LinearServer, health_has_both_keys) {
  for (const std::string path : {"/v2/health/live", "/v2/health/ready", "/v2/models/linear/ready",
                                 "/v2/models/linear/versions/1/ready"}) {
    const ClientResponse response = serving->get(path);
    EXPECT_EQ(response.status, 200) << path;
    EXPECT_EQ(response.body, R"({"live":true,"ready":true})");
    EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
  }
}

TEST_F(LinearServer, metadata_describes_server_and_model) {
  const Value server = json_of(serving->get("/v2"));
  EXPECT_EQ(server["name"].as_string(), "takt");
  EXPECT_EQ(server["extensions"].as_array()[0].as_string(), "binary_tensor_data");
  const ClientResponse response = serving->get("/v2/models/linear");
  EXPECT_EQ(
      response.body,
      R"({"inputs":[{"datatype":"FP32","name":"x","shape":[-1,4]}],"name":"linear","outputs":[)"
      R"({"datatype":"INT64","name":"label","shape":[-1]},)"
      R"({"datatype":"FP32","name":"scores","shape":[-1,3]}],)"
      R"("platform":"onnxruntime_onnx","versions":["1"]})");
  EXPECT_EQ(serving->get("/v2/models/linear/versions/1").body, response.body);
}

TEST_F(LinearServer, unknown_models_and_versions_are_not_found) {
  EXPECT_EQ(serving->get("/v2/models/other").status, 404);
  EXPECT_EQ(error_of(serving->get("/v2/models/other")),
            "model 'other' is not served here; 'linear' is");
  EXPECT_EQ(serving->get("/v2/models/linear/versions/2/ready").status, 404);
  EXPECT_EQ(serving->post("/v2/models/other/infer", kOneRow).status, 404);
  const ClientResponse nowhere = serving->get("/v3");
  EXPECT_EQ(nowhere.status, 404);
  EXPECT_FALSE(error_of(nowhere).empty());
  EXPECT_EQ(serving->get(kInfer).status, 405);
}

TEST_F(LinearServer, json_in_json_out) {
  const ClientResponse response = serving->post(kInfer, kOneRow);
  EXPECT_EQ(response.status, 200);
  EXPECT_EQ(response.body,
            R"({"model_name":"linear","model_version":"1","id":"q1","outputs":[)"
            R"({"name":"label","datatype":"INT64","shape":[1],"data":[0]},)"
            R"({"name":"scores","datatype":"FP32","shape":[1,3],"data":[1.1,0.2,-0.7]}]})");
  EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
  EXPECT_FALSE(response.headers.has(kHeaderLengthName));
  EXPECT_EQ(response.headers.get("Takt-Revision"), "3");
  EXPECT_FALSE(response.headers.get("Takt-Request-Id").empty());
}

TEST_F(LinearServer, an_absent_id_stays_absent_and_the_gateways_request_id_is_kept) {
  Headers headers;
  headers.add("Takt-Request-Id", "abc-1");
  const ClientResponse response = serving->post(
      kInfer, R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,0,0,0]}]})",
      headers);
  EXPECT_FALSE(json_of(response).has("id"));
  EXPECT_EQ(response.headers.get("Takt-Request-Id"), "abc-1");
}

TEST_F(LinearServer, outputs_come_as_asked_for) {
  const ClientResponse response = serving->post(
      kInfer, R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[0,0,0,0]}],
        "outputs":[{"name":"scores"},{"name":"label","parameters":{"binary_data":true}}]})");
  ASSERT_EQ(response.status, 200) << response.body;
  EXPECT_EQ(response.headers.get("Content-Type"), "application/octet-stream");
  const auto length =
      static_cast<std::size_t>(std::stoi(std::string(response.headers.get(kHeaderLengthName))));
  const auto head = parse_json(response.body.substr(0, length));
  ASSERT_TRUE(head) << head.error().text();
  EXPECT_EQ((*head)["outputs"].as_array()[0]["name"].as_string(), "scores");
  EXPECT_FALSE((*head)["outputs"].as_array()[0].has("parameters"));
  EXPECT_EQ((*head)["outputs"].as_array()[1]["parameters"]["binary_data_size"].as_int(), 8);
  EXPECT_EQ(response.body.size(), length + 8);
}

/// A binary request of `rows` rows of zeros.
std::string binary_body(std::int64_t rows, std::size_t& json_size) {
  const std::size_t bytes = static_cast<std::size_t>(rows) * 16;
  std::string body = R"({"parameters":{"binary_data_output":true},)"
                     R"("inputs":[{"name":"x","datatype":"FP32","shape":[)" +
                     std::to_string(rows) + R"(,4],"parameters":{"binary_data_size":)" +
                     std::to_string(bytes) + "}}]}";
  json_size = body.size();
  return body.append(bytes, '\0');
}

TEST_F(LinearServer, binary_in_binary_out_also_packed) {
  std::size_t json_size = 0;
  const std::string body = binary_body(2, json_size);
  for (const net::Encoding encoding :
       {net::Encoding::kIdentity, net::Encoding::kGzip, net::Encoding::kDeflate}) {
    Headers headers;
    headers.add("inference-header-content-length",
                std::to_string(json_size));  // names have no case
    if (encoding != net::Encoding::kIdentity)
      headers.add("Content-Encoding", std::string(encoding_name(encoding)));
    const ClientResponse response = serving->post(kInfer, *net::compress(body, encoding), headers);
    ASSERT_EQ(response.status, 200) << response.body;
    const auto length =
        static_cast<std::size_t>(std::stoi(std::string(response.headers.get(kHeaderLengthName))));
    EXPECT_EQ(response.body.size(), length + 2 * 8 + 2 * 12);
  }
}

TEST_F(LinearServer, answers_are_packed_only_when_asked) {
  Headers headers;
  headers.add("Accept-Encoding", "deflate");
  const ClientResponse response = serving->post(kInfer, kOneRow, headers);
  std::string body = response.body;
  if (response.headers.get("Content-Encoding") == "deflate") {  // a client may unpack by itself
    const auto unpacked = net::decompress(body, net::Encoding::kDeflate, 1 << 20);
    if (unpacked) body = *unpacked;
  }
  EXPECT_TRUE(body.contains("\"model_name\":\"linear\"")) << body;
}

TEST_F(LinearServer, wrong_requests_are_400_and_name_what_was_wrong) {
  const auto refused = [&](const std::string& body) {
    const ClientResponse response = serving->post(kInfer, body);
    EXPECT_EQ(response.status, 400) << body;
    EXPECT_EQ(response.headers.get("Content-Type"), "application/json");
    return error_of(response);
  };
  EXPECT_EQ(
      refused(R"({"inputs":[{"name":"z","datatype":"FP32","shape":[1,4],"data":[1,0,0,0]}]})"),
      "input 'z': unknown name; the model takes 'x' (FP32 [-1,4])");
  EXPECT_EQ(refused(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,3],"data":[1,0,0]}]})"),
            "input 'x': shape [1,3] given, [-1,4] expected; -1 stands for any size");
  EXPECT_EQ(
      refused(R"({"inputs":[{"name":"x","datatype":"FP64","shape":[1,4],"data":[1,0,0,0]}]})"),
      "input 'x': datatype FP64 given, FP32 expected");
  EXPECT_EQ(refused(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[1,0,0]}]})"),
            "input 'x': 3 values given, shape [1,4] needs 4");
  std::string zeros = "0";
  for (int i = 1; i < 36; ++i) zeros += ",0";
  EXPECT_TRUE(
      refused(R"({"inputs":[{"name":"x","datatype":"FP32","shape":[9,4],"data":[)" + zeros + "]}]}")
          .starts_with("input 'x': 9 rows given, at most 8 are allowed (max_batch_size)"));
  EXPECT_TRUE(refused("{").starts_with("request body is not valid JSON"));
  Headers headers;
  headers.add("Content-Encoding", "br");
  const ClientResponse packed = serving->post(kInfer, "x", headers);
  EXPECT_EQ(packed.status, 400);
  EXPECT_EQ(packed.headers.get("Accept-Encoding"), "gzip, deflate");
}

TEST_F(LinearServer, foreign_origins_are_refused) {
  Headers headers;
  headers.add("Origin", "http://evil.example");
  EXPECT_EQ(serving->post(kInfer, kOneRow, headers).status, 403);
}

TEST(InferServer, large_json_bodies_pass_through_the_codec_thread) {
  InferOptions options = options_for("linear");
  options.batch_rows_max = 10'000;
  Serving serving(options);
  ASSERT_TRUE(serving.server->load([] { return false; }));
  std::string body = R"({"inputs":[{"name":"x","datatype":"FP32","shape":[10000,4],"data":[0)";
  for (int i = 1; i < 40'000; ++i) body += ",0";
  const ClientResponse response = serving.post(LinearServer::kInfer, body + "]}]}");
  ASSERT_EQ(response.status, 200) << error_of(response);
  EXPECT_EQ(json_of(response)["outputs"].as_array()[1]["data"].as_array().size(), 30'000U);
  EXPECT_EQ(serving.post(LinearServer::kInfer, body).status, 400);
}

TEST_F(LinearServer, metrics_count) {
  serving->post(kInfer, kOneRow);
  const ClientResponse response = serving->get("/metrics");
  EXPECT_EQ(response.status, 200);
  EXPECT_TRUE(
      response.body.contains("takt_serve_requests_total{model=\"linear\",version=\"1\",protocol="
                             "\"http\",outcome=\"ok\"} "));
  EXPECT_TRUE(response.body.contains(
      "takt_serve_request_seconds_bucket{model=\"linear\",version=\"1\",le=\"+Inf\"} "));
  EXPECT_TRUE(response.body.contains("takt_serve_ready{model=\"linear\",version=\"1\"} 1"));
}

TEST_F(LinearServer, many_clients_get_their_own_answers) {
  std::vector<std::thread> clients;
  std::atomic<int> wrong{0};
  for (int client = 0; client < 8; ++client) {
    clients.emplace_back([&, client] {
      net::Client http(
          {.base_url = "http://127.0.0.1:" + std::to_string(serving->server->http_port())});
      for (int i = 0; i < 50; ++i) {
        const int value = client * 100 + i;
        const auto response =
            http.send(Method::kPost, kInfer,
                      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,4],"data":[0,0,)" +
                          std::to_string(value) + ",0]}],\"outputs\":[{\"name\":\"scores\"}]}");
        const auto body = response ? parse_json(response->body) : fail(response.error());
        const double got = body && body->has("outputs")
                               ? (*body)["outputs"].as_array()[0]["data"].as_array()[1].as_number()
                               : -1;
        if (std::abs(got - (value + 0.2)) > 1e-3) ++wrong;
      }
    });
  }
  for (std::thread& client : clients) client.join();
  EXPECT_EQ(wrong, 0);
}

inference::ModelInferRequest grpc_request(std::int64_t rows) {
  inference::ModelInferRequest request;
  request.set_model_name("linear");
  request.set_id("g1");
  auto& input = *request.add_inputs();
  input.set_name("x");
  input.set_datatype("FP32");
  input.add_shape(rows);
  input.add_shape(4);
  return request;
}

TEST_F(LinearServer, grpc_says_what_http_says) {
  grpc::ClientContext contexts[4];
  inference::ServerLiveResponse live;
  EXPECT_TRUE(serving->stub->ServerLive(&contexts[0], {}, &live).ok() && live.live());
  inference::ServerReadyResponse ready;
  EXPECT_TRUE(serving->stub->ServerReady(&contexts[1], {}, &ready).ok() && ready.ready());
  inference::ServerMetadataResponse server;
  EXPECT_TRUE(serving->stub->ServerMetadata(&contexts[2], {}, &server).ok());
  EXPECT_EQ(server.name(), "takt");
  inference::ModelMetadataRequest request;
  request.set_name("linear");
  inference::ModelMetadataResponse model;
  EXPECT_TRUE(serving->stub->ModelMetadata(&contexts[3], request, &model).ok());
  EXPECT_EQ(model.inputs(0).shape(0), -1);
  EXPECT_EQ(model.outputs(0).datatype(), "INT64");
}

TEST_F(LinearServer, grpc_answers_raw_whether_asked_raw_or_typed) {
  for (const bool is_raw : {false, true}) {
    inference::ModelInferRequest request = grpc_request(1);
    const float values[] = {1, 0, 0, 0};
    if (is_raw)
      request.add_raw_input_contents(values, sizeof values);
    else
      for (const float value : values)
        request.mutable_inputs(0)->mutable_contents()->add_fp32_contents(value);
    grpc::ClientContext context;
    inference::ModelInferResponse response;
    const grpc::Status status = serving->stub->ModelInfer(&context, request, &response);
    ASSERT_TRUE(status.ok()) << status.error_message();
    EXPECT_EQ(response.id(), "g1");
    EXPECT_EQ(response.model_version(), "1");
    ASSERT_EQ(response.raw_output_contents_size(), 2);
    float score = 0;
    std::memcpy(&score, response.raw_output_contents(1).data(), sizeof score);
    EXPECT_EQ(score, 1.1F);
    EXPECT_FALSE(response.outputs(1).has_contents());
    EXPECT_EQ(context.GetServerTrailingMetadata().find("takt-revision")->second, "3");
    EXPECT_EQ(context.GetServerTrailingMetadata().count("takt-request-id"), 1U);
  }
}

TEST_F(LinearServer, grpc_errors_have_the_protocols_codes) {
  const auto refused = [&](const inference::ModelInferRequest& request) {
    grpc::ClientContext context;
    inference::ModelInferResponse response;
    return serving->stub->ModelInfer(&context, request, &response);
  };
  inference::ModelInferRequest other = grpc_request(1);
  other.set_model_name("other");
  EXPECT_EQ(refused(other).error_code(), grpc::StatusCode::NOT_FOUND);
  inference::ModelInferRequest both = grpc_request(1);
  both.add_raw_input_contents(std::string(16, '\0'));
  both.mutable_inputs(0)->mutable_contents()->add_fp32_contents(1);
  EXPECT_EQ(refused(both).error_code(), grpc::StatusCode::INVALID_ARGUMENT);
  inference::ModelInferRequest short_bytes = grpc_request(1);
  short_bytes.add_raw_input_contents(std::string(12, '\0'));
  EXPECT_EQ(refused(short_bytes).error_message(),
            "input 'x': 12 bytes given, shape [1,4] of FP32 needs 16");
  inference::ModelInferRequest many = grpc_request(1);
  many.add_raw_input_contents("a");
  many.add_raw_input_contents("b");
  EXPECT_EQ(refused(many).error_message(), "2 raw_input_contents given for 1 inputs");
}

TEST(InferServer, is_live_but_not_ready_until_its_model_is_warm) {
  Serving serving(options_for("linear"));
  EXPECT_EQ(serving.get("/v2/health/live").status, 200);
  const ClientResponse before = serving.get("/v2/health/ready");
  EXPECT_EQ(before.status, 503);
  EXPECT_EQ(json_of(before)["ready"].as_bool(), false);
  EXPECT_EQ(error_of(before), "model 'linear' is still loading; ask again when it is ready");
  EXPECT_EQ(serving.post("/v2/models/linear/infer", LinearServer::kOneRow).status, 503);
  ASSERT_TRUE(serving.server->load([] { return false; }));
  EXPECT_EQ(serving.get("/v2/health/ready").status, 200);
  serving.server->drain();
  EXPECT_FALSE(serving.server->is_ready());
}

TEST(InferServer, writes_its_ports) {
  const takt::testing::TempDir folder;
  InferOptions options = options_for("linear");
  options.ports_dir = folder.path() / "ports";
  Serving serving(options);
  EXPECT_EQ(read_file(folder.path() / "ports/http"),
            "127.0.0.1:" + std::to_string(serving.server->http_port()));
  EXPECT_EQ(read_file(folder.path() / "ports/grpc"),
            "127.0.0.1:" + std::to_string(serving.server->grpc_port()));
}

TEST(InferServer, a_model_that_is_not_onnx_is_refused_with_the_exporter) {
  const takt::testing::TempDir folder;
  std::ofstream(folder.path() / "model.pkl") << "\x80\x05 a pickle";
  InferOptions options = options_for("linear");
  options.model = folder.path();
  Serving serving(options);
  const Status loaded = serving.server->load([] { return false; });
  ASSERT_FALSE(loaded);
  EXPECT_TRUE(loaded.error().text().contains("skl2onnx.to_onnx")) << loaded.error().text();
}

TEST(InferServer, a_port_in_use_is_refused) {
  Serving first(options_for("linear"));
  InferOptions http = options_for("linear");
  http.http_port = first.server->http_port();
  EXPECT_EQ(InferServer::listen(http, system_clock()).error().code, Code::kUnavailable);
  InferOptions grpc = options_for("linear");
  grpc.grpc_port = first.server->grpc_port();
  EXPECT_EQ(InferServer::listen(grpc, system_clock()).error().code, Code::kUnavailable);
}

TEST(InferServer, other_addresses_want_a_token) {
  InferOptions options = options_for("linear");
  options.host = "0.0.0.0";
  EXPECT_EQ(InferServer::listen(options, system_clock()).error().code, Code::kInvalid);
  options.token = "secret";
  Serving serving(options);
  EXPECT_EQ(serving.get("/v2/health/live").status, 401);
  Headers headers;
  headers.add("Authorization", "Bearer secret");
  EXPECT_EQ(serving.send(Method::kGet, "/v2/health/live", {}, headers).status, 200);
  grpc::ClientContext anonymous;
  inference::ServerLiveResponse live;
  EXPECT_EQ(serving.stub->ServerLive(&anonymous, {}, &live).error_code(),
            grpc::StatusCode::UNAUTHENTICATED);
}

TEST(InferServer, a_body_over_the_limit_is_413_packed_or_not) {
  InferOptions options = options_for("linear");
  options.body_bytes_max = 1000;
  Serving serving(options);
  ASSERT_TRUE(serving.server->load([] { return false; }));
  EXPECT_EQ(serving.post(LinearServer::kInfer, std::string(1001, ' ')).status, 413);
  Headers headers;
  headers.add("Content-Encoding", "gzip");
  EXPECT_EQ(serving
                .post(LinearServer::kInfer,
                      *net::compress(std::string(5000, ' '), net::Encoding::kGzip), headers)
                .status,
            413);
}

TEST(InferServer, not_a_number_goes_binary_but_not_as_json) {
  Serving serving("divide");
  const std::string body =
      R"({"inputs":[{"name":"x","datatype":"FP32","shape":[1,2],"data":[0,1]}])";
  const ClientResponse json = serving.post("/v2/models/divide/infer", body + "}");
  EXPECT_EQ(json.status, 400);
  EXPECT_EQ(
      error_of(json),
      "output 'y': value 0 is NaN, which JSON cannot carry; ask for this output as binary data: "
      "\"parameters\":{\"binary_data\":true}");
  EXPECT_EQ(
      serving
          .post("/v2/models/divide/infer", body + R"(,"parameters":{"binary_data_output":true}})")
          .status,
      200);
}

TEST(InferServer, scalars_and_texts_pass) {
  Serving scalar("scalar");
  const ClientResponse product = scalar.post("/v2/models/scalar/infer", R"({"inputs":[
    {"name":"x","datatype":"FP32","shape":[2],"data":[1,2]},
    {"name":"factor","datatype":"FP32","shape":[],"data":[3]}]})");
  EXPECT_EQ(json_of(product)["outputs"].as_array()[0]["data"], (Array{3, 6})) << product.body;
  Serving texts("identity_bytes");
  const ClientResponse echo = texts.post("/v2/models/identity_bytes/infer", R"({"inputs":[
    {"name":"x","datatype":"BYTES","shape":[1,2],"data":["","grün"]}]})");
  EXPECT_EQ(json_of(echo)["outputs"].as_array()[0]["data"], (Array{"", "grün"})) << echo.body;
}

TEST(InferServer, a_row_that_the_model_refuses_is_400) {
  Serving serving("gather");
  const ClientResponse response =
      serving.post("/v2/models/gather/infer",
                   R"({"inputs":[{"name":"index","datatype":"INT64","shape":[1],"data":[7]}]})");
  EXPECT_EQ(response.status, 400) << response.body;
}

}  // namespace
}  // namespace takt::serve
