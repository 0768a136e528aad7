// SPDX-License-Identifier: Apache-2.0
#include "takt/store/internal/group_writer.h"

#include <algorithm>
#include <chrono>
#include <optional>

#include "takt/base/log.h"
#include "takt/store/sql.h"

namespace takt::store::internal {
namespace {

constexpr std::size_t kGroupRequestsMax = 512;
constexpr std::int64_t kGroupUsMax = 50'000;
constexpr int kReconnectsMax = 5;

/// What a closure gets. After a failed statement every later one fails with the same error, as
/// PostgreSQL would have it, so that a room does not come to rest on SQLite's leniency.
class GroupTx final : public Tx {
 public:
  GroupTx(Connection& connection, UnixMs now_ms) : connection_(connection), now_ms_(now_ms) {}

  Result<Rows> query(std::string_view sql, const Params& params) override {
    if (error_) return fail(*error_);
    return keep_error(connection_.query(sql, params));
  }
  Result<std::int64_t> exec(std::string_view sql, const Params& params) override {
    if (error_) return fail(*error_);
    return keep_error(connection_.exec(sql, params));
  }
  Result<std::int64_t> next_number(std::string_view counter) override {
    TAKT_ASSIGN(const Rows rows, query(sql::kNextNumber, {std::string(counter)}));
    if (counter == kEventCounter) appended_events_ = true;
    return rows.at(0).integer(0);
  }
  Result<EventPlace> next_event() override {
    TAKT_ASSIGN(const Rows rows, query(sql::kNextEvent, {}));
    appended_events_ = true;
    return EventPlace{rows.at(0).integer(0), rows.at(0).text(1)};
  }
  UnixMs now_ms() const override { return now_ms_; }

  bool appended_events() const { return appended_events_; }
  const std::optional<Error>& error() const { return error_; }

 private:
  template <class T>
  Result<T> keep_error(Result<T> result) {
    if (!result) error_ = result.error();
    return result;
  }

  Connection& connection_;
  UnixMs now_ms_;
  std::optional<Error> error_;
  bool appended_events_ = false;
};

Error late_write(std::string_view where) {
  return {.code = Code::kTimeout,
          .message = "the write did not start before its deadline: " + std::string(where),
          .hint = "the server is busy; try again"};
}

}  // namespace

GroupWriter::GroupWriter(Engine& engine, std::unique_ptr<Connection> connection, const Clock& clock,
                         std::size_t queue_max, CommitFault fault)
    : engine_(engine),
      connection_(std::move(connection)),
      clock_(clock),
      queue_max_(queue_max),
      fault_(fault),
      thread_([this] { loop(); }) {}

GroupWriter::~GroupWriter() {
  {
    const std::lock_guard lock(mutex_);
    is_stopping_ = true;
    work_.notify_one();
  }
  thread_.join();
}

Status GroupWriter::write(Deadline deadline, const WriteFn& fn) {
  TAKT_CHECK(std::this_thread::get_id() != thread_.get_id(), "a write inside of a write");
  Request request{.fn = &fn, .deadline = deadline};
  const std::int64_t left_ms = deadline.left_ms(clock_);
  if (left_ms <= 0) return fail(late_write("it had passed already"));
  std::unique_lock lock(mutex_);
  if (is_stopping_) return fail(Code::kUnavailable, "the database is closing");
  if (queue_.size() >= queue_max_) {
    return fail(Code::kUnavailable,
                "too many writes are waiting (" + std::to_string(queue_max_) + ")", "try again");
  }
  queue_.push_back(&request);
  work_.notify_one();
  const auto is_done = [&] { return request.state == Request::State::kDone; };
  if (!request.wake.wait_for(lock, std::chrono::milliseconds(left_ms), is_done)) {
    if (request.state == Request::State::kQueued) {
      std::erase(queue_, &request);
      return fail(late_write(std::to_string(queue_.size()) + " others wait"));
    }
    // It runs: the closure may hold references into the caller's frame, so its end is awaited.
    request.wake.wait(lock, is_done);
  }
  return std::move(request.result);
}

void GroupWriter::on_commit(std::function<void()> wake) {
  const std::lock_guard lock(mutex_);
  wake_ = std::move(wake);
}

void GroupWriter::loop() {
  while (Request* first = wait_for_request()) {
    Group group{first};
    if (!run_group(group, false) && !run_group(group, true)) {
      for (Request* request : group) {
        request->result =
            fail(Code::kUnavailable, "the connection to the database broke twice", "try again");
      }
    }
    finish(group);
  }
}

GroupWriter::Request* GroupWriter::wait_for_request() {
  std::unique_lock lock(mutex_);
  work_.wait(lock, [&] { return is_stopping_ || !queue_.empty(); });
  if (queue_.empty()) return nullptr;
  Request* request = queue_.front();
  queue_.pop_front();
  request->state = Request::State::kRunning;
  return request;
}

GroupWriter::Request* GroupWriter::join(const Group& group, Mono started) {
  if (group.size() >= kGroupRequestsMax || clock_.mono() - started > kGroupUsMax) return nullptr;
  const std::lock_guard lock(mutex_);
  if (queue_.empty()) return nullptr;
  Request* request = queue_.front();
  queue_.pop_front();
  request->state = Request::State::kRunning;
  return request;
}

bool GroupWriter::run_group(Group& group, bool is_retry) {
  Status status;
  if (connection_->is_lost()) status = reconnect();
  if (status) status = connection_->begin_write();
  if (status) status = run_parts(group, !is_retry && !fault_.is_set());
  if (!status && connection_->is_lost() && !is_retry) return false;
  if (status) {
    const bool has_changes = std::ranges::any_of(group, [](Request* r) { return bool(r->result); });
    if (has_changes) status = commit(group);
  }
  connection_->rollback();  // of what commit left open: nothing, when all went well
  if (!status) {
    for (Request* request : group) {
      if (request->result) request->result = status;
    }
  }
  return true;
}

Status GroupWriter::run_parts(Group& group, bool may_grow) {
  const Mono started = clock_.mono();
  bool is_alone = group.size() == 1;
  if (may_grow && is_alone) {
    const std::lock_guard lock(mutex_);
    is_alone = queue_.empty();
  }
  for (std::size_t i = 0; i < group.size(); ++i) {
    Request& request = *group[i];
    if (!is_alone) TAKT_RETURN_IF_ERROR(connection_->begin_part());
    run_one(request);
    if (!connection_->in_transaction() || connection_->is_lost()) {
      const std::string cause = request.result ? "unknown cause" : request.result.error().message;
      Error error = request.result ? Error{} : request.result.error();
      error.message = "the transaction was lost: " + cause;
      return fail(std::move(error));
    }
    if (!is_alone) {
      TAKT_RETURN_IF_ERROR(request.result ? connection_->keep_part() : connection_->drop_part());
    }
    if (is_alone || !may_grow) continue;
    if (Request* next = join(group, started)) group.push_back(next);
  }
  return {};
}

void GroupWriter::run_one(Request& request) {
  GroupTx tx(*connection_, clock_.now_ms());
  request.result = (*request.fn)(tx);
  if (request.result && tx.error()) request.result = fail(*tx.error());
  request.appended_events = request.result && tx.appended_events();
}

Status GroupWriter::commit(const Group& group) {
  const bool has_events =
      std::ranges::any_of(group, [](const Request* r) { return r->result && r->appended_events; });
  if (has_events) fault_.before_commit();
  const std::string id = connection_->transaction_id();
  Status status = connection_->commit();
  if (has_events && status) fault_.after_commit();
  if (status || !connection_->is_lost()) return status;
  // The answer is lost; the commit may have been done. Only the database knows.
  Result<bool> was_committed = false;
  if (const Status again = reconnect(); again) {
    was_committed = connection_->was_committed(id);
  } else {
    was_committed = fail(again.error());
  }
  if (was_committed) return *was_committed ? Status{} : status;
  return fail(Code::kUnavailable,
              "the connection to the database broke during a commit, and whether it was done is "
              "not known: " +
                  was_committed.error().message,
              "look whether the change is there before you repeat it");
}

Status GroupWriter::reconnect() {
  Status status = fail(Code::kUnavailable, "the database is not connected");
  for (int attempt = 0; attempt < kReconnectsMax; ++attempt) {
    if (attempt > 0) clock_.sleep_ms(std::int64_t{50} << attempt);
    auto connection = engine_.connect(Access::kWrite);
    if (connection) {
      connection_ = std::move(*connection);
      log_info("database connection restored");
      return {};
    }
    status = fail(std::move(connection).error());
  }
  return status;
}

void GroupWriter::finish(Group& group) {
  std::function<void()> wake;
  {
    const std::lock_guard lock(mutex_);
    for (Request* request : group) {
      if (request->result && request->appended_events) wake = wake_;
      request->state = Request::State::kDone;
      request->wake.notify_one();
    }
  }
  if (wake) wake();
}

}  // namespace takt::store::internal
