// SPDX-License-Identifier: Apache-2.0
#include "takt/app/platform.h"

#include <algorithm>
#include <atomic>
#include <vector>

#include "takt/access/access.h"
#include "takt/access/migrations.h"
#include "takt/access/routes.h"
#include "takt/app/console.h"
#include "takt/app/system_routes.h"
#include "takt/base/log.h"
#include "takt/base/process.h"
#include "takt/data/dataset_service.h"
#include "takt/data/migrations.h"
#include "takt/data/resolver.h"
#include "takt/data/routes.h"
#include "takt/data/validate_step.h"
#include "takt/jobs/migrations.h"
#include "takt/jobs/routes.h"
#include "takt/jobs/station.h"
#include "takt/models/migrations.h"
#include "takt/models/model_registry.h"
#include "takt/models/register_step.h"
#include "takt/models/resolver.h"
#include "takt/models/routes.h"
#include "takt/net/http.h"
#include "takt/pipelines/engine.h"
#include "takt/pipelines/explainer.h"
#include "takt/pipelines/gate_step.h"
#include "takt/pipelines/migrations.h"
#include "takt/pipelines/pipeline_service.h"
#include "takt/pipelines/routes.h"
#include "takt/services/migrations.h"
#include "takt/services/routes.h"
#include "takt/services/station.h"
#include "takt/spine/event_stream.h"
#include "takt/spine/line.h"
#include "takt/spine/routes.h"
#include "takt/spine/why.h"
#include "takt/store/blobs.h"
#include "takt/store/database.h"
#include "takt/store/event_chain.h"
#include "takt/store/migrations.h"
#include "takt/track/artifact_service.h"
#include "takt/track/logged_model_service.h"
#include "takt/track/metric_folder.h"
#include "takt/track/migrations.h"
#include "takt/track/resolver.h"
#include "takt/track/routes.h"
#include "takt/track/track_service.h"

namespace takt::app {
namespace {

bool is_loopback(std::string_view listen) {
  return listen.starts_with("127.") || listen.starts_with("localhost:") ||
         listen.starts_with("[::1]:");
}

/// What would make an open server is refused before anything starts.
Status check_exposure(const Settings& settings) {
  const std::string& listen = settings.text("listen");
  if (is_loopback(listen)) return {};
  if (!settings.is_on("auth"))
    return fail(Code::kInvalid, "--auth off with --listen " + listen + " would let anyone in",
                "listen on 127.0.0.1, or leave authentication on", "auth");
  if (settings.text("tls_certificate").empty() && !settings.is_on("insecure_http"))
    return fail(Code::kInvalid,
                "--listen " + listen + " without TLS would send tokens in the clear",
                "give --tls-certificate and --tls-key, or --insecure-http on", "listen");
  return {};
}

std::vector<std::string> split_list(const std::string& text) {
  std::vector<std::string> items;
  std::size_t start = 0;
  while (start <= text.size() && !text.empty()) {
    const auto comma = std::min(text.find(',', start), text.size());
    if (comma > start) items.push_back(text.substr(start, comma - start));
    start = comma + 1;
  }
  return items;
}

class RunningPlatform final : public Platform {
 public:
  RunningPlatform(const Settings& settings, std::filesystem::path data_dir, Clock& clock)
      : settings_(settings), data_dir_(std::move(data_dir)), clock_(clock) {}
  ~RunningPlatform() override { stop(); }

  Status open();
  Status register_routes() override;
  Status start() override;
  void stop() override;
  std::string url() const override { return url_; }
  const net::Router& router() const override { return router_; }

 private:
  Status open_store();
  Status open_jobs();
  Status open_services();
  void register_stations();
  void add_routes();

  const Settings& settings_;
  const std::filesystem::path data_dir_;
  Clock& clock_;
  std::string url_;
  std::atomic<bool> is_ready_ = false;
  bool is_stopped_ = false;
  // In the order of the layers: what stands below is destroyed after what stands above.
  std::unique_ptr<store::Database> db_;
  std::unique_ptr<store::BlobStore> blobs_;
  std::unique_ptr<access::AccessService> access_;
  std::unique_ptr<access::AuditService> audit_;
  std::unique_ptr<spine::EventStream> events_;
  std::unique_ptr<spine::WhyService> why_;
  std::unique_ptr<spine::LineService> line_;
  std::unique_ptr<data::DatasetService> datasets_;
  std::unique_ptr<track::TrackService> track_;
  std::unique_ptr<track::MetricFolder> metric_folder_;
  std::unique_ptr<track::LoggedModelService> logged_models_;
  std::unique_ptr<track::ArtifactService> artifacts_;
  std::unique_ptr<models::ModelRegistry> models_;
  // Its steps work on the stations above on threads of their own; those below look things up in it.
  actions::Registry registry_;
  std::unique_ptr<jobs::JobStation> jobs_;
  std::unique_ptr<services::Station> services_;
  std::unique_ptr<pipelines::PipelineService> pipelines_;
  std::unique_ptr<pipelines::Engine> engine_;
  net::Router router_;
  std::unique_ptr<net::Server> server_;
};

Status RunningPlatform::open() {
  TAKT_RETURN_IF_ERROR(check_exposure(settings_));
  TAKT_RETURN_IF_ERROR(open_store());
  TAKT_ASSIGN(access_, access::AccessService::open(
                           *db_, {.auth_off = !settings_.is_on("auth"),
                                  .admin_token_file = (data_dir_ / "admin-token").string()}));
  audit_ = std::make_unique<access::AuditService>(*db_);
  events_ = std::make_unique<spine::EventStream>(*db_);
  why_ = std::make_unique<spine::WhyService>(*db_);
  line_ = std::make_unique<spine::LineService>(*db_);
  datasets_ = std::make_unique<data::DatasetService>(*db_, *blobs_);
  track_ = std::make_unique<track::TrackService>(*db_);
  metric_folder_ = std::make_unique<track::MetricFolder>(*db_);
  track_->on_full_head([this] { metric_folder_->wake(); });
  logged_models_ = std::make_unique<track::LoggedModelService>(*db_);
  artifacts_ = std::make_unique<track::ArtifactService>(*db_, *blobs_);
  models_ = std::make_unique<models::ModelRegistry>(*db_, *blobs_);
  pipelines_ = std::make_unique<pipelines::PipelineService>(*db_, registry_, *access_);
  engine_ = std::make_unique<pipelines::Engine>(*db_, registry_);
  return {};
}

Status RunningPlatform::open_store() {
  const std::string& url = settings_.text("database");
  const std::string location = url.empty() ? (data_dir_ / "takt.db").string() : url;
  TAKT_ASSIGN(db_, store::Database::open({.location = location}, clock_));
  const auto migrations = all_migrations();
  TAKT_RETURN_IF_ERROR(db_->migrate(migrations));
  TAKT_RETURN_IF_ERROR(store::chain_old_events(*db_));
  TAKT_ASSIGN(blobs_, store::BlobStore::open(data_dir_ / "blobs", *db_));
  return {};
}

Status RunningPlatform::open_jobs() {
  jobs::StationOptions options;
  options.server_url = url_;
  options.executor.data_dir = data_dir_;
  options.executor.cpu_millicores = settings_.integer("cpu");
  options.executor.memory_bytes = settings_.integer("memory");
  options.executor.gpus = settings_.integer("gpus");
  options.executor.uid = static_cast<uid_t>(settings_.integer("job_uid"));
  TAKT_ASSIGN(jobs_, jobs::JobStation::open({*db_, *blobs_, *datasets_, *access_, registry_},
                                            std::move(options)));
  return {};
}

Status RunningPlatform::open_services() {
  services::StationOptions options;
  options.takt_binary = own_executable();
  options.data_dir = data_dir_;
  options.gateway_listen = settings_.text("gateway_listen");
  options.gateway_grpc_listen = settings_.text("gateway_grpc_listen");
  TAKT_ASSIGN(services_,
              services::Station::open({*db_, *blobs_, registry_, jobs_->service(), *access_},
                                      std::move(options)));
  return {};
}

/// What stations offer to pipelines, to `why` and to the Line page, in the order of the line.
void RunningPlatform::register_stations() {
  registry_.add(std::make_unique<data::DatasetResolver>(*datasets_, *access_));
  registry_.add(std::make_unique<data::ValidateStep>(*datasets_, *access_));
  registry_.add(std::make_unique<models::ModelResolver>(*models_, *access_));
  registry_.add(std::make_unique<models::RegisterStep>(*models_, *access_));
  registry_.add(jobs_->make_step());
  for (auto& step : services_->make_steps()) registry_.add(std::move(step));
  registry_.add(std::make_unique<pipelines::GateStep>());

  const auto data = std::make_shared<data::DatasetExplainer>(*datasets_, *access_);
  const auto lines = std::make_shared<pipelines::PipelineExplainer>(*pipelines_, *access_);
  why_->add(data);
  const auto runs = std::make_shared<track::RunExplainer>(*track_, *access_);
  const auto models = std::make_shared<models::ModelExplainer>(*models_, *access_);
  why_->add(jobs_->make_explainer());
  why_->add(runs);
  why_->add(models);
  why_->add(services_->make_explainer());
  why_->add(lines);
  line_->add(data);
  line_->add(jobs_->make_line_source());
  line_->add(runs);
  line_->add(models);
  line_->add(services_->make_line_source());
  line_->add(lines);
}

void RunningPlatform::add_routes() {
  register_system_routes(router_, {.db = *db_,
                                   .blobs = *blobs_,
                                   .policy = *access_,
                                   .data_dir = data_dir_,
                                   .is_ready = is_ready_,
                                   .http_stats = [this] {
                                     return server_ ? server_->stats() : net::Server::Stats{};
                                   }});
  access::register_routes(router_, *access_);
  access::register_audit_routes(router_, *audit_, *access_);
  spine::register_routes(router_, {*db_, *blobs_, *access_, *events_, *why_, *line_});
  data::register_routes(router_, *datasets_, *access_);
  jobs::register_routes(router_, *jobs_, *access_);
  track::register_routes(router_, {*track_, *logged_models_, *artifacts_}, *access_);
  models::register_routes(router_, *models_, *access_);
  services::register_routes(router_, *services_, *access_);
  pipelines::register_routes(router_, *pipelines_, *access_);
  router_.set_fallback(serve_console);
}

Status RunningPlatform::register_routes() {
  const std::string& listen = settings_.text("listen");
  const auto colon = listen.rfind(':');
  const bool has_tls = !settings_.text("tls_certificate").empty();
  url_ = std::string(has_tls ? "https" : "http") + "://127.0.0.1" +
         (colon == std::string::npos ? "" : listen.substr(colon));
  TAKT_RETURN_IF_ERROR(open_jobs());
  TAKT_RETURN_IF_ERROR(open_services());
  register_stations();
  add_routes();
  return {};
}

Status RunningPlatform::start() {
  TAKT_RETURN_IF_ERROR(register_routes());
  net::ServerOptions options;
  options.listen = settings_.text("listen");
  options.worker_threads = static_cast<int>(settings_.integer("workers"));
  options.allowed_hosts = split_list(settings_.text("allowed_hosts"));
  if (!settings_.text("tls_certificate").empty())
    options.tls = net::TlsFiles{settings_.text("tls_certificate"), settings_.text("tls_key")};
  db_->on_commit([this] {
    events_->wake();
    services_->wake();
    engine_->wake();
  });
  // Recovery comes before requests: what an earlier server left is adopted or ended first.
  jobs_->start();
  services_->start();
  engine_->start();
  metric_folder_->start();
  TAKT_ASSIGN(server_, net::Server::start(std::move(options), router_, access_.get(), clock_));
  is_ready_ = true;
  return {};
}

void RunningPlatform::stop() {
  if (is_stopped_) return;
  is_stopped_ = true;
  is_ready_ = false;
  if (events_) events_->stop();
  if (server_) server_->drain(settings_.integer("drain"));
  if (metric_folder_) metric_folder_->stop();
  if (engine_) engine_->stop();
  if (services_) services_->stop();
  if (jobs_) jobs_->stop();
  if (db_) db_->on_commit([] {});
}

}  // namespace

std::vector<store::Migration> all_migrations() {
  std::vector<store::Migration> all;
  for (const auto room :
       {store::migrations(), access::migrations(), data::migrations(), track::migrations(),
        jobs::migrations(), models::migrations(), services::migrations(), pipelines::migrations()})
    all.insert(all.end(), room.begin(), room.end());
  std::ranges::sort(all, {}, &store::Migration::name);
  return all;
}

Result<std::unique_ptr<Platform>> Platform::open(const Settings& settings,
                                                 const std::filesystem::path& data_dir,
                                                 Clock& clock) {
  auto platform = std::make_unique<RunningPlatform>(settings, data_dir, clock);
  TAKT_RETURN_IF_ERROR(platform->open());
  return platform;
}

}  // namespace takt::app
