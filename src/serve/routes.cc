// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/routes.h"

#include <memory>
#include <utility>

#include "takt/base/version.h"
#include "takt/net/compression.h"
#include "takt/serve/binary_tensor.h"
#include "takt/serve/codec_thread.h"

namespace takt::serve {
namespace {

using net::Encoding;
using net::Method;
using net::Request;
using net::Responder;
using net::Response;
using RequestPtr = std::shared_ptr<Request>;

constexpr std::size_t kQuickBytes = 64 << 10;  // JSON or packed bytes handled where they are
constexpr std::size_t kCodecTasksMax = 64;
constexpr std::string_view kJsonType = "application/json";
constexpr std::string_view kBinaryType = "application/octet-stream";
constexpr std::string_view kMetricsType = "text/plain; version=0.0.4";

Array specs_value(const std::vector<TensorSpec>& specs) {
  Array array;
  for (const TensorSpec& spec : specs) {
    Array shape(spec.shape.begin(), spec.shape.end());
    array.push_back(Object{{"name", spec.name},
                           {"datatype", data_type_info(spec.type).name},
                           {"shape", std::move(shape)}});
  }
  return array;
}

/// Its own gateway's id when it sent one, so that one id names the request everywhere.
std::string_view request_id_of(const Request& request) {
  const std::string_view given = request.headers.get("Takt-Request-Id");
  return given.empty() || given.size() > 128 ? std::string_view(request.request_id) : given;
}

/// JSON is read and written at some 100 MB/s; raw tensors are only views.
bool is_slow_to_decode(const Request& request) {
  if (request.body.size() <= kQuickBytes) return false;
  return !request.headers.has(kHeaderLengthName) || request.headers.has("Content-Encoding");
}

bool is_slow_to_encode(const Request& request, const std::vector<InferOutput>& outputs) {
  std::size_t bytes = 0;
  const bool is_packed = request.headers.has("Accept-Encoding");
  for (const InferOutput& output : outputs) {
    if (is_packed || !output.is_binary.value_or(false)) bytes += output.tensor.bytes.size();
  }
  return bytes > kQuickBytes;
}

/// Answers of one server's routes; used by every network thread.
class HttpFrontEnd {
 public:
  HttpFrontEnd(ServedModel& model, HttpOptions options, Clock& clock)
      : model_(model), options_(std::move(options)), clock_(clock) {}

  Response live() const {
    return Response::json(Object{{"live", true}, {"ready", model_.is_ready()}});
  }
  Response ready() const;
  Result<Response> model_ready(const Request& request) const;
  Result<Response> metadata(const Request& request) const;
  Response metrics() const {
    return Response::bytes(model_.render_metrics(), std::string(kMetricsType));
  }
  void infer(const RequestPtr& request, Responder respond);

 private:
  Status check_name(const Request& request) const;
  Result<InferRequest> decode(const RequestPtr& request) const;
  Result<Response> encode(const Request& request, std::string_view id,
                          const std::vector<InferOutput>& outputs) const;
  void finish(const Request& request, Response response, const Responder& respond) const;
  void answer(const Request& request, std::string_view id, const std::vector<InferOutput>& outputs,
              const Responder& respond) const;
  void run(const RequestPtr& request, InferContext context, Responder respond);
  void done(const RequestPtr& request, const std::string& id,
            Result<std::vector<InferOutput>> outputs, const Responder& respond);

  ServedModel& model_;
  const HttpOptions options_;
  Clock& clock_;
  CodecThread codec_{kCodecTasksMax};
};

Response HttpFrontEnd::ready() const {
  const bool is_ready = model_.is_ready();
  Value body = Object{{"live", true}, {"ready", is_ready}};
  if (!is_ready) body["error"] = model_.info().error().text();
  return Response::json(body, is_ready ? 200 : 503);
}

Status HttpFrontEnd::check_name(const Request& request) const {
  const auto version = request.path_params.find("version");
  return model_.check_name(request.path_param("model"), version == request.path_params.end()
                                                            ? std::string_view()
                                                            : version->second);
}

Result<Response> HttpFrontEnd::model_ready(const Request& request) const {
  TAKT_RETURN_IF_ERROR(check_name(request));
  return ready();
}

Result<Response> HttpFrontEnd::metadata(const Request& request) const {
  TAKT_RETURN_IF_ERROR(check_name(request));
  TAKT_ASSIGN(const ModelInfo* info, model_.info());
  return Response::json(model_metadata(model_, *info));
}

Result<InferRequest> HttpFrontEnd::decode(const RequestPtr& request) const {
  TAKT_RETURN_IF_ERROR(check_name(*request));
  TAKT_ASSIGN(const ModelInfo* info, model_.info());
  const std::string_view header_length = request->headers.get(kHeaderLengthName);
  TAKT_ASSIGN(const Encoding encoding,
              net::parse_encoding(request->headers.get("Content-Encoding")));
  if (encoding == Encoding::kIdentity)
    return decode_infer_body(SharedBody(request, &request->body), header_length, *info);
  TAKT_ASSIGN(std::string unpacked,
              net::decompress(request->body, encoding, options_.body_bytes_max));
  return decode_infer_body(std::make_shared<std::string>(std::move(unpacked)), header_length,
                           *info);
}

Result<Response> HttpFrontEnd::encode(const Request& request, std::string_view id,
                                      const std::vector<InferOutput>& outputs) const {
  TAKT_ASSIGN(EncodedReply reply,
              encode_infer_reply({model_.name(), model_.version(), id}, outputs));
  const Encoding encoding = net::choose_encoding(request.headers.get("Accept-Encoding"));
  Response response =
      Response::bytes({}, std::string(reply.header_length ? kBinaryType : kJsonType));
  if (reply.header_length)
    response.headers.add(std::string(kHeaderLengthName), std::to_string(*reply.header_length));
  if (encoding == Encoding::kIdentity) {
    response.body = std::move(reply.body);
    return response;
  }
  TAKT_ASSIGN(response.body, net::compress(reply.body, encoding));
  response.headers.add("Content-Encoding", std::string(encoding_name(encoding)));
  return response;
}

void HttpFrontEnd::finish(const Request& request, Response response,
                          const Responder& respond) const {
  if (!options_.revision.empty()) response.headers.add("Takt-Revision", options_.revision);
  response.headers.add("Takt-Request-Id", std::string(request_id_of(request)));
  respond(std::move(response));
}

void HttpFrontEnd::answer(const Request& request, std::string_view id,
                          const std::vector<InferOutput>& outputs, const Responder& respond) const {
  auto response = encode(request, id, outputs);
  finish(request, response ? std::move(*response) : inference_error(response.error()), respond);
}

void HttpFrontEnd::infer(const RequestPtr& request, Responder respond) {
  InferContext context{
      .protocol = Protocol::kHttp, .arrived = clock_.mono(), .deadline = request->deadline.at};
  if (request->client != nullptr) {
    context.is_cancelled = [request] { return request->client->is_gone(); };
    context.run_later = [client = request->client](std::function<void()> task) {
      client->run_later(std::move(task));
    };
  }
  if (!is_slow_to_decode(*request)) return run(request, std::move(context), std::move(respond));
  const Status added =
      codec_.add([this, request, context, respond] { run(request, context, respond); });
  if (added) return;
  model_.count_refused(context, added.error());
  finish(*request, inference_error(added.error()), respond);
}

void HttpFrontEnd::run(const RequestPtr& request, InferContext context, Responder respond) {
  auto decoded = decode(request);
  if (!decoded) {
    model_.count_refused(context, decoded.error());
    Response response = inference_error(decoded.error());
    if (request->headers.has("Content-Encoding")) {
      response.headers.add("Accept-Encoding", "gzip, deflate");
    }
    return finish(*request, std::move(response), respond);
  }
  std::string id = std::move(decoded->id);
  model_.infer(std::move(*decoded), context,
               [this, request, id = std::move(id),
                respond = std::move(respond)](Result<std::vector<InferOutput>> outputs) {
                 done(request, id, std::move(outputs), respond);
               });
}

/// On the batcher's thread, or where the request was refused.
void HttpFrontEnd::done(const RequestPtr& request, const std::string& id,
                        Result<std::vector<InferOutput>> outputs, const Responder& respond) {
  if (!outputs) return finish(*request, inference_error(outputs.error()), respond);
  if (!is_slow_to_encode(*request, *outputs)) return answer(*request, id, *outputs, respond);
  auto held = std::make_shared<std::vector<InferOutput>>(std::move(*outputs));
  const Status added =
      codec_.add([this, request, id, held, respond] { answer(*request, id, *held, respond); });
  if (!added) finish(*request, inference_error(added.error()), respond);
}

/// A handler that answers on the network thread: none of them blocks.
template <class Answer>
net::AsyncHandler at_once(std::shared_ptr<HttpFrontEnd> front_end, Answer answer) {
  return [front_end = std::move(front_end), answer](const RequestPtr& request,
                                                    const Responder& respond) {
    Result<Response> response = answer(*front_end, *request);
    respond(response ? std::move(*response) : inference_error(response.error()));
  };
}

}  // namespace

Response inference_error(const Error& error) {
  // A full queue is not the client's quota: 503, so that load balancers try another replica.
  const int status = error.code == Code::kExhausted ? 503 : code_names(error.code).http_status;
  Response response = Response::json(Object{{"error", error.text()}}, status);
  if (status == 503) response.headers.add("Retry-After", "1");
  return response;
}

Value server_metadata() {
  return Object{{"name", "takt"},
                {"version", kVersion},
                {"extensions", Array{"binary_tensor_data", "parameters"}}};
}

Value model_metadata(const ServedModel& model, const ModelInfo& info) {
  return Object{{"name", model.name()},
                {"versions", Array{model.version()}},
                {"platform", info.platform},
                {"inputs", specs_value(info.inputs)},
                {"outputs", specs_value(info.outputs)}};
}

void register_routes(net::Router& router, ServedModel& model, HttpOptions options, Clock& clock) {
  const net::ErrorForm error_form = [](const Error& error, const Request&) {
    return inference_error(error);
  };
  net::RouteOptions route{.access = options.access,
                          .body_bytes_max = options.body_bytes_max,
                          .deadline_ms = options.deadline_ms,
                          .error_form = error_form};
  auto front_end = std::make_shared<HttpFrontEnd>(model, std::move(options), clock);
  router.set_error_form("/", error_form);
  const auto get = [&](std::string pattern, auto answer) {
    router.add_async(Method::kGet, std::move(pattern), at_once(front_end, answer), route);
  };
  get("/v2", [](const HttpFrontEnd&, const Request&) { return Response::json(server_metadata()); });
  get("/v2/health/live", [](const HttpFrontEnd& f, const Request&) { return f.live(); });
  get("/v2/health/ready", [](const HttpFrontEnd& f, const Request&) { return f.ready(); });
  get("/metrics", [](const HttpFrontEnd& f, const Request&) { return f.metrics(); });
  for (const std::string base : {"/v2/models/{model}", "/v2/models/{model}/versions/{version}"}) {
    get(base, [](const HttpFrontEnd& f, const Request& request) { return f.metadata(request); });
    get(base + "/ready",
        [](const HttpFrontEnd& f, const Request& request) { return f.model_ready(request); });
    router.add_async(
        Method::kPost, base + "/infer",
        [front_end](const RequestPtr& request, Responder respond) {
          front_end->infer(request, std::move(respond));
        },
        route);
  }
}

}  // namespace takt::serve
