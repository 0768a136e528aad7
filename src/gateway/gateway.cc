// SPDX-License-Identifier: Apache-2.0
#include "takt/gateway/gateway.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/inotify.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <mutex>
#include <thread>

#include "takt/base/digest.h"
#include "takt/base/file.h"
#include "takt/base/log.h"
#include "takt/gateway/grpc_front.h"
#include "takt/gateway/http_front.h"
#include "takt/net/grpc_proxy.h"
#include "takt/net/http.h"
#include "takt/net/upstream.h"

namespace takt::gateway {
namespace {

constexpr int kBlockingWorkers = 1;  // no route of this process blocks
constexpr std::string_view kSnapshotName = "snapshot.json";
constexpr std::string_view kStatsName = "stats.json";

bool is_loopback_address(std::string_view listen) {
  return listen.starts_with("127.") || listen.starts_with("localhost:") ||
         listen.starts_with("[::1]:");
}

/// Where clients on this machine reach a server that listens on `listen`.
std::string reached_at(std::string_view listen, int port) {
  std::string host(listen.substr(0, listen.rfind(':')));
  if (host == "0.0.0.0" || host == "*" || host.empty()) host = "127.0.0.1";
  return host + ":" + std::to_string(port);
}

/// Service tokens by the snapshot in use.
class SnapshotTokens final : public net::Authenticator {
 public:
  explicit SnapshotTokens(Routes& routes) : routes_(routes) {}
  Result<net::Caller> authenticate(const net::Credentials& credentials) override {
    if (is_service_token(*routes_.table(), credentials.authorization)) return net::Caller{};
    return fail(Code::kUnauthenticated, "the service's token is missing or wrong",
                "send the header Authorization: Bearer TOKEN");
  }

 private:
  Routes& routes_;
};

class RunningGateway final : public Gateway {
 public:
  RunningGateway(GatewayOptions options, Clock& clock)
      : options_(std::move(options)),
        clock_(clock),
        epoch_(random_hex(8)),
        needs_token_(!is_loopback_address(options_.http) ||
                     (!options_.grpc.empty() && !is_loopback_address(options_.grpc))),
        routes_(clock),
        tokens_(routes_),
        upstream_(clock),
        http_front_(routes_, upstream_,
                    {.access = needs_token_ ? net::Access::kAuthenticated : net::Access::kAnonymous,
                     .body_bytes_max = options_.body_bytes_max,
                     .deadline_ms = options_.deadline_ms,
                     .metrics = [this] { return render_metrics(stats()); }},
                    clock),
        grpc_front_(routes_, {.needs_token = needs_token_, .deadline_ms = options_.deadline_ms},
                    clock) {}
  ~RunningGateway() override { drain(); }

  Status open();
  void drain() override;
  int http_port() const override { return http_->port(); }
  int grpc_port() const override { return grpc_ == nullptr ? -1 : grpc_->port(); }
  std::int64_t snapshot_version() const override { return routes_.table()->version; }

 private:
  Status open_watch();
  Status write_ports() const;
  StatsFile stats() const;
  void take_snapshot();
  void prepare_grpc() const;
  void write_stats() const;
  void keep();

  const GatewayOptions options_;
  Clock& clock_;
  const std::string epoch_;
  const bool needs_token_;
  Routes routes_;
  SnapshotTokens tokens_;
  net::UpstreamPool upstream_;
  HttpFront http_front_;
  GrpcFront grpc_front_;
  net::Router router_;
  std::unique_ptr<net::Server> http_;
  std::unique_ptr<net::GrpcProxy> grpc_;
  Fd watch_, stop_;
  std::thread keeper_;
  std::string snapshot_text_;  // the keeper's: what was taken last
  mutable std::mutex mutex_;   // guards problem_
  std::string problem_;
  bool is_drained_ = false;
};

Status RunningGateway::open() {
  TAKT_RETURN_IF_ERROR(make_dirs(options_.folder, 0700));
  TAKT_RETURN_IF_ERROR(open_watch());
  take_snapshot();
  http_front_.register_routes(router_);
  TAKT_ASSIGN(http_, net::Server::start({.listen = options_.http,
                                         .network_threads = options_.network_threads,
                                         .worker_threads = kBlockingWorkers,
                                         .any_host = true,
                                         .check_origin = false,
                                         .reuse_port = options_.reuse_port},
                                        router_, needs_token_ ? &tokens_ : nullptr, clock_));
  if (!options_.grpc.empty()) {
    TAKT_ASSIGN(grpc_, net::GrpcProxy::start(
                           {.listen = options_.grpc, .reuse_port = options_.reuse_port},
                           [this](const net::GrpcCall& call) { return grpc_front_.choose(call); }));
    prepare_grpc();
  }
  write_stats();
  TAKT_RETURN_IF_ERROR(write_ports());
  keeper_ = std::thread([this] { keep(); });
  return {};
}

Status RunningGateway::open_watch() {
  watch_ = Fd(::inotify_init1(IN_CLOEXEC | IN_NONBLOCK));
  stop_ = Fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
  if (!watch_ || !stop_) return fail(errno_error("making the gateway's descriptors", errno));
  if (::inotify_add_watch(watch_.get(), options_.folder.c_str(), IN_MOVED_TO | IN_CLOSE_WRITE) < 0)
    return fail(errno_error("watching " + options_.folder.string(), errno));
  return {};
}

/// As a job of the server it says where it listens in TAKT_PORTS_DIR.
Status RunningGateway::write_ports() const {
  const char* folder = std::getenv("TAKT_PORTS_DIR");
  if (folder == nullptr) return {};
  const std::filesystem::path ports(folder);
  TAKT_RETURN_IF_ERROR(make_dirs(ports));
  if (grpc_ != nullptr)
    TAKT_RETURN_IF_ERROR(
        write_file_durably(ports / "grpc", reached_at(options_.grpc, grpc_port())));
  return write_file_durably(ports / "http", reached_at(options_.http, http_port()));
}

StatsFile RunningGateway::stats() const {
  StatsFile stats;
  stats.epoch = epoch_;
  stats.pid = ::getpid();
  stats.updated_ms = clock_.now_ms();
  stats.http = reached_at(options_.http, http_port());
  if (grpc_ != nullptr) stats.grpc = reached_at(options_.grpc, grpc_port());
  stats.snapshot_version = snapshot_version();
  {
    const std::lock_guard guard(mutex_);
    stats.problem = problem_;
  }
  stats.revisions = routes_.counts();
  return stats;
}

void RunningGateway::take_snapshot() {
  const std::filesystem::path path = options_.folder / kSnapshotName;
  std::error_code none;
  if (!std::filesystem::exists(path, none)) return;
  auto text = read_file(path);
  if (text && *text == snapshot_text_) return;
  const Result<Snapshot> snapshot = text ? parse_snapshot(*text) : fail(text.error());
  snapshot_text_ = std::move(text).value_or("");  // a broken one is told once
  {
    const std::lock_guard guard(mutex_);
    problem_ = snapshot ? "" : snapshot.error().text();
  }
  if (!snapshot) {
    log_error("the snapshot cannot be used, the routes stay as they are",
              {{"error", snapshot.error().text()}});
    return;
  }
  for (const ReplicaEndpoint& gone : routes_.apply(*snapshot)) {
    upstream_.forget(gone.http);
    if (grpc_ != nullptr && !gone.grpc.empty()) grpc_->forget(gone.grpc);
  }
  prepare_grpc();
  log_info("routes changed",
           {{"snapshot", snapshot->version}, {"services", snapshot->services.size()}});
}

void RunningGateway::prepare_grpc() const {
  if (grpc_ == nullptr) return;
  const auto table = routes_.table();
  for (const auto& [name, service] : table->services)
    for (const RevisionRoute& revision : service.revisions)
      for (const auto& replica : revision.replicas)
        if (!replica->endpoint.grpc.empty()) grpc_->prepare(replica->endpoint.grpc);
}

/// Not fsynced: after a power cut the counts begin anew in any case.
void RunningGateway::write_stats() const {
  const std::filesystem::path path = options_.folder / kStatsName;
  const std::filesystem::path temporary =
      options_.folder / ("." + std::string(kStatsName) + "." + epoch_);
  const Fd file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644));
  const Status written = file ? write_all(file.get(), render_stats(stats()))
                              : fail(errno_error("creating " + temporary.string(), errno));
  if (written && ::rename(temporary.c_str(), path.c_str()) == 0) return;
  ::unlink(temporary.c_str());
  log_warn("the counts could not be written", {{"folder", options_.folder.string()}});
}

void RunningGateway::keep() {
  Mono next_tick = clock_.mono() + options_.tick_ms * 1000;
  pollfd fds[] = {{watch_.get(), POLLIN, 0}, {stop_.get(), POLLIN, 0}};
  for (;;) {
    const std::int64_t left_ms = std::max<std::int64_t>(0, (next_tick - clock_.mono()) / 1000 + 1);
    ::poll(fds, 2, static_cast<int>(left_ms));
    if (fds[1].revents != 0) return;
    char events[4096];
    bool is_changed = false;
    while (::read(watch_.get(), events, sizeof events) > 0) is_changed = true;
    const bool is_due = next_tick <= clock_.mono();
    // Its own stats.json wakes it too; a snapshot of the same text is passed over.
    if (is_changed || is_due) take_snapshot();
    if (!is_due) continue;
    write_stats();
    next_tick = clock_.mono() + options_.tick_ms * 1000;
  }
}

void RunningGateway::drain() {
  if (std::exchange(is_drained_, true)) return;
  if (http_ != nullptr) http_->drain(options_.drain_ms);
  if (grpc_ != nullptr) grpc_->drain(options_.drain_ms);
  if (!keeper_.joinable()) return;
  const std::uint64_t one = 1;
  (void)!::write(stop_.get(), &one, sizeof one);
  keeper_.join();
  write_stats();
}

}  // namespace

Result<std::unique_ptr<Gateway>> Gateway::start(GatewayOptions options, Clock& clock) {
  if (options.folder.empty())
    return fail(Code::kInvalid, "no folder was named",
                "give --folder, the folder gateway/ of the server's data");
  auto gateway = std::make_unique<RunningGateway>(std::move(options), clock);
  TAKT_RETURN_IF_ERROR(gateway->open());
  return gateway;
}

int gateway_main(GatewayOptions options) {
  sigset_t set;
  sigemptyset(&set);
  sigaddset(&set, SIGTERM);
  sigaddset(&set, SIGINT);
  pthread_sigmask(SIG_BLOCK, &set, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  auto gateway = Gateway::start(std::move(options), system_clock());
  if (!gateway) {
    log_error("gateway stopped", {{"error", gateway.error().text()}});
    return code_names(gateway.error().code).exit_code;
  }
  log_info("gateway listens",
           {{"http", (*gateway)->http_port()}, {"grpc", (*gateway)->grpc_port()}});
  int signal_number = 0;
  sigwait(&set, &signal_number);
  log_info("gateway drains");
  (*gateway)->drain();
  return 0;
}

}  // namespace takt::gateway
