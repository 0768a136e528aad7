// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/http_front.h"

#include <utility>

#include "takt/base/version.h"
#include "takt/gateway/request_id.h"

namespace takt::gateway {
namespace {

constexpr std::string_view kRevisionName = "Takt-Revision";
constexpr std::string_view kRequestIdName = "Takt-Request-Id";
constexpr int kAnswerOfServerFault = 500;
constexpr std::string_view kMetricsContentType = "text/plain; version=0.0.4";
constexpr std::string_view kWhatThisIs =
    "This is takt's gateway. A service answers POST /v2/models/SERVICE/infer (Open Inference\n"
    "Protocol). The console and the API are on the server's own port, 8700 by default.\n";

bool is_gone(const net::Request& request) {
  return request.client != nullptr && request.client->is_gone();
}

}  // namespace

/// One request on its way to a replica, perhaps to a second one.
struct HttpFront::Exchange {
  std::shared_ptr<net::Request> request;
  net::Responder respond;
  std::unique_ptr<Choice> choice;
  std::shared_ptr<net::UpstreamCall> call;
  std::string id;
  Mono start;
  bool was_sent_again = false;
};

net::Response protocol_error(const Error& error) {
  const int status = code_names(error.code).http_status;
  net::Response response = net::Response::json(Object{{"error", error.text()}}, status);
  if (error.code == Code::kUnavailable) response.headers.set("Retry-After", "1");
  return response;
}

HttpFront::HttpFront(Routes& routes, net::UpstreamPool& upstream, HttpFrontOptions options,
                     Clock& clock)
    : routes_(routes), upstream_(upstream), options_(std::move(options)), clock_(clock) {}

void HttpFront::register_routes(net::Router& router) {
  router.set_error_form(
      "/", [](const Error& error, const net::Request&) { return protocol_error(error); });
  const net::RouteOptions open{.access = net::Access::kAnonymous};
  const net::RouteOptions data{.access = options_.access,
                               .body_bytes_max = options_.body_bytes_max,
                               .deadline_ms = options_.deadline_ms};
  const auto answer = [](auto make) {
    return [make](const std::shared_ptr<net::Request>&, const net::Responder& respond) {
      respond(make());
    };
  };
  router.add_async(net::Method::kGet, "/v2/health/live", answer([this] { return health(false); }),
                   open);
  router.add_async(net::Method::kGet, "/v2/health/ready", answer([this] { return health(true); }),
                   open);
  router.add_async(net::Method::kGet, "/v2", answer([this] { return server_metadata(); }), open);
  router.add_async(net::Method::kGet, "/",
                   answer([] { return net::Response::text(std::string(kWhatThisIs)); }), open);
  router.add_async(net::Method::kGet, "/metrics", answer([this] {
                     return net::Response::bytes(options_.metrics(),
                                                 std::string(kMetricsContentType));
                   }),
                   data);
  const auto handler = [this](std::shared_ptr<net::Request> request, net::Responder respond) {
    pass(std::move(request), std::move(respond));
  };
  for (const char* pattern : {"/v2/models/{service}", "/v2/models/{service}/{rest...}"}) {
    router.add_async(net::Method::kGet, pattern, handler, data);
    router.add_async(net::Method::kPost, pattern, handler, data);
  }
}

net::Response HttpFront::health(bool is_readiness) const {
  const auto table = routes_.table();
  const bool is_ready = table->version > 0;
  return net::Response::json(
      Object{{"live", true}, {"ready", is_ready}, {"server", "takt-gateway"}},
      is_readiness && !is_ready ? 503 : 200);
}

net::Response HttpFront::server_metadata() const {
  return net::Response::json(Object{{"name", "takt-gateway"},
                                    {"version", kVersion},
                                    {"extensions", Array{"binary_tensor_data"}}});
}

void HttpFront::pass(std::shared_ptr<net::Request> request, net::Responder respond) {
  auto choice = routes_.choose(request->path_param("service"), Wire::kHttp, thread_rng());
  if (!choice) return respond(protocol_error(choice.error()));
  auto exchange = std::make_shared<Exchange>();
  exchange->start = clock_.mono();
  exchange->choice = std::move(*choice);
  exchange->id = make_request_id(
      {exchange->choice->service_hash, exchange->choice->revision, clock_.now_ms()}, thread_rng());
  exchange->request = std::move(request);
  exchange->respond = std::move(respond);
  send(std::move(exchange));
}

void HttpFront::send(std::shared_ptr<Exchange> exchange) {
  const net::Request& request = *exchange->request;
  net::UpstreamRequest forward;
  forward.target = exchange->choice->replica().endpoint.http;
  forward.method = request.method;
  forward.path = request.target;
  forward.headers = request.headers;
  forward.headers.set(kRequestIdName, exchange->id);
  forward.body = request.body;
  forward.keep = exchange->request;
  forward.timeout_ms = request.deadline.left_ms(clock_);
  // The callbacks below run on this same network thread, after this function.
  exchange->call = upstream_.send(std::move(forward), [this, exchange](net::UpstreamResult result) {
    finish(exchange, std::move(result));
  });
  if (request.client == nullptr || exchange->was_sent_again) return;
  request.client->on_gone([weak = std::weak_ptr(exchange)] {
    if (const auto gone = weak.lock(); gone && gone->call) gone->call->cancel();
  });
}

bool HttpFront::send_elsewhere(const std::shared_ptr<Exchange>& exchange) {
  if (exchange->was_sent_again || is_gone(*exchange->request)) return false;
  routes_.avoid(exchange->choice->replica());
  auto next = routes_.choose_again(exchange->request->path_param("service"), Wire::kHttp,
                                   *exchange->choice, thread_rng());
  if (!next) return false;
  exchange->was_sent_again = true;
  exchange->choice = std::move(*next);
  exchange->id = make_request_id(
      {exchange->choice->service_hash, exchange->choice->revision, clock_.now_ms()}, thread_rng());
  send(exchange);
  return true;
}

void HttpFront::finish(const std::shared_ptr<Exchange>& exchange, net::UpstreamResult result) {
  exchange->call = nullptr;
  // Nothing of an answer came. An inference changes nothing, so asking again is safe.
  const bool is_broken = !result.response && result.response.error().code == Code::kUnavailable;
  if (is_broken && send_elsewhere(exchange)) return;
  net::Response response;
  if (result.response) {
    response.status = result.response->status;
    response.headers = std::move(result.response->headers);
    response.body = std::move(result.response->body);
  } else {
    response = protocol_error(result.response.error());
  }
  response.headers.set(kRevisionName, std::to_string(exchange->choice->revision));
  response.headers.set(kRequestIdName, exchange->id);
  // A client that went away broke its call itself, as one of gRPC that cancels does.
  const bool is_fault = !result.response || response.status >= kAnswerOfServerFault;
  const bool is_error = is_fault && !is_gone(*exchange->request);
  // A GET asks about the model and does not run it: counted, a prober would hide how it runs.
  if (exchange->request->method == net::Method::kPost)
    exchange->choice->counters().record(clock_.mono() - exchange->start, is_error);
  exchange->choice = nullptr;
  exchange->respond(std::move(response));
}

}  // namespace takt::gateway
