// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/server.h"

#include <malloc.h>

#include <csignal>
#include <cstdlib>
#include <utility>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/serve/engines/onnx.h"
#include "takt/serve/grpc.h"
#include "takt/serve/model_file.h"
#include "takt/serve/routes.h"

namespace takt::serve {
namespace {

constexpr int kWorkerThreads = 1;  // no route of this server blocks

bool is_loopback(std::string_view host) {
  return host.starts_with("127.") || host == "localhost" || host == "::1" || host == "[::1]";
}

std::string host_port(std::string_view host, int port) {
  const bool needs_brackets = host.contains(':') && !host.starts_with('[');
  return (needs_brackets ? "[" + std::string(host) + "]" : std::string(host)) + ":" +
         std::to_string(port);
}

/// Where others on this machine reach a server that listens on `host`.
std::string endpoint(std::string_view host, int port) {
  return host_port(host == "0.0.0.0" || host == "*" || host.empty() ? "127.0.0.1" : host, port);
}

/// One token, compared in constant time.
class TokenCheck final : public net::Authenticator {
 public:
  explicit TokenCheck(std::string token) : expected_("Bearer " + std::move(token)) {}
  Result<net::Caller> authenticate(const net::Credentials& credentials) override {
    if (equal_constant_time(credentials.authorization, expected_)) return net::Caller{};
    return fail(Code::kUnauthenticated, "the service's token is missing or wrong",
                "send the header Authorization: Bearer TOKEN");
  }

 private:
  const std::string expected_;
};

std::string default_name(const std::filesystem::path& model) {
  std::filesystem::path path = std::filesystem::absolute(model).lexically_normal();
  if (path.filename().empty()) path = path.parent_path();
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) return path.filename().string();
  return path.stem() == "model" ? path.parent_path().filename().string() : path.stem().string();
}

Status check_options(const InferOptions& options) {
  if (options.model.empty())
    return fail(Code::kInvalid, "no model was named", "give --model FILE or --model-dir FOLDER");
  if (!is_loopback(options.host) && options.token.empty())
    return fail(Code::kInvalid, "listening on " + options.host + " needs a service token",
                "set one (TAKT_SERVICE_TOKEN), or listen on 127.0.0.1");
  if (options.threads < 1 || options.instances < 1)
    return fail(Code::kInvalid, "threads and instances must be at least 1");
  if (options.batch_rows_max < 0 || options.batch_delay_us < 0)
    return fail(Code::kInvalid, "max-batch-size and max-delay-us must not be negative");
  return {};
}

class InferServerImpl final : public InferServer {
 public:
  InferServerImpl(InferOptions options, Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        model_({.name = options_.model_name,
                .version = options_.model_version,
                .batch_rows_max = options_.batch_rows_max,
                .batch_delay_us = options_.batch_delay_us,
                .queue_requests_max = options_.queue_requests_max,
                .instances = options_.instances},
               clock),
        token_check_(options_.token) {}
  ~InferServerImpl() override { drain(); }

  Status open();
  Status load(const std::function<bool()>& is_stopped) override;
  void drain() override;
  bool is_ready() const override { return model_.is_ready(); }
  int http_port() const override { return http_->port(); }
  int grpc_port() const override { return grpc_ == nullptr ? -1 : grpc_->port(); }

 private:
  Status open_http();
  Status open_grpc();
  Status write_ports();

  const InferOptions options_;
  Clock& clock_;
  ServedModel model_;
  TokenCheck token_check_;
  net::Router router_;
  std::unique_ptr<net::Server> http_;
  std::unique_ptr<GrpcServer> grpc_;
  bool is_drained_ = false;
};

Status InferServerImpl::open_http() {
  const bool is_open = options_.token.empty();
  register_routes(router_, model_,
                  {.access = is_open ? net::Access::kAnonymous : net::Access::kAuthenticated,
                   .body_bytes_max = options_.body_bytes_max,
                   .deadline_ms = options_.deadline_ms,
                   .revision = options_.revision},
                  clock_);
  net::ServerOptions server{.listen = host_port(options_.host, options_.http_port),
                            .worker_threads = kWorkerThreads,
                            .any_host = true};
  TAKT_ASSIGN(http_, net::Server::start(std::move(server), router_,
                                        is_open ? nullptr : &token_check_, clock_));
  return {};
}

Status InferServerImpl::open_grpc() {
  if (options_.grpc_port < 0) return {};
  GrpcOptions server{.listen = host_port(options_.host, options_.grpc_port),
                     .token = options_.token,
                     .revision = options_.revision,
                     .deadline_ms = options_.deadline_ms};
  TAKT_ASSIGN(grpc_, GrpcServer::start(std::move(server), model_, clock_));
  return {};
}

Status InferServerImpl::write_ports() {
  if (options_.ports_dir.empty()) return {};
  TAKT_RETURN_IF_ERROR(make_dirs(options_.ports_dir));
  if (grpc_ != nullptr)
    TAKT_RETURN_IF_ERROR(
        write_file_durably(options_.ports_dir / "grpc", endpoint(options_.host, grpc_->port())));
  return write_file_durably(options_.ports_dir / "http", endpoint(options_.host, http_->port()));
}

Status InferServerImpl::open() {
  TAKT_RETURN_IF_ERROR(open_http());
  TAKT_RETURN_IF_ERROR(open_grpc());
  return write_ports();
}

Status InferServerImpl::load(const std::function<bool()>& is_stopped) {
  const Mono start = clock_.mono();
  TAKT_ASSIGN(const std::filesystem::path file, find_model_file(options_.model));
  TAKT_ASSIGN(std::shared_ptr<Engine> engine, load_onnx(file, {.threads = options_.threads}));
  const ModelInfo& info = engine->info();
  Object fields{{"model", options_.model_name},
                {"file", file.string()},
                {"runtime", info.runtime_version},
                {"runtime_digest", info.runtime_digest}};
  TAKT_RETURN_IF_ERROR(model_.start(engine, is_stopped));
  ::malloc_trim(0);  // loading parses and optimises the graph: much of that heap is free again
  fields["http"] = endpoint(options_.host, http_port());
  if (grpc_ != nullptr) fields["grpc"] = endpoint(options_.host, grpc_port());
  fields["ms"] = (clock_.mono() - start) / 1000;
  log_info("model ready", std::move(fields));
  return {};
}

void InferServerImpl::drain() {
  if (std::exchange(is_drained_, true)) return;
  // The front ends first stop taking connections, then the model: what came in is answered.
  if (http_ != nullptr) http_->drain(options_.drain_ms);
  if (grpc_ != nullptr) grpc_->drain(options_.drain_ms);
  model_.stop();
}

sigset_t stop_signals() {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  return set;
}

/// True once a stop signal has come; takes it from the pending ones.
bool poll_stop(bool& is_stopped) {
  const sigset_t set = stop_signals();
  const timespec now{};
  if (!is_stopped && sigtimedwait(&set, nullptr, &now) > 0) is_stopped = true;
  return is_stopped;
}

int report(const Error& error) {
  log_error("inference server stopped",
            {{"error", error.text()}, {"code", code_names(error.code).name}});
  return code_names(error.code).exit_code;
}

}  // namespace

Result<std::unique_ptr<InferServer>> InferServer::listen(InferOptions options, Clock& clock) {
  TAKT_RETURN_IF_ERROR(check_options(options));
  if (options.model_name.empty()) options.model_name = default_name(options.model);
  auto server = std::make_unique<InferServerImpl>(std::move(options), clock);
  TAKT_RETURN_IF_ERROR(server->open());
  return server;
}

int infer_main(InferOptions options) {
  const sigset_t set = stop_signals();
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  if (const char* folder = std::getenv("TAKT_PORTS_DIR");
      folder != nullptr && options.ports_dir.empty())
    options.ports_dir = folder;
  auto server = InferServer::listen(std::move(options), system_clock());
  if (!server) return report(server.error());
  bool is_stopped = false;
  const Status loaded = (*server)->load([&] { return poll_stop(is_stopped); });
  if (!loaded && !is_stopped) return report(loaded.error());
  int signal_number = 0;
  if (!is_stopped) sigwait(&set, &signal_number);
  log_info("inference server drains");
  (*server)->drain();
  return 0;
}

}  // namespace takt::serve
