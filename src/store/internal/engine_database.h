// SPDX-License-Identifier: Apache-2.0
// Database on any engine: one group writer, one reader pool.
#pragma once

#include <memory>

#include "takt/store/internal/group_writer.h"
#include "takt/store/internal/reader_pool.h"

namespace takt::store::internal {

class EngineDatabase final : public Database {
 public:
  static Result<std::unique_ptr<Database>> open(std::unique_ptr<Engine> engine,
                                                const DatabaseOptions& options, Clock& clock);

  using Database::read;
  using Database::write;
  Status write(Deadline deadline, const WriteFn& fn) override {
    return writer_.write(deadline, fn);
  }
  Status read(Deadline deadline, const ReadFn& fn) override { return readers_.read(deadline, fn); }
  Status migrate(std::span<const Migration> migrations) override;
  void on_commit(std::function<void()> wake) override { writer_.on_commit(std::move(wake)); }
  Status backup_to(const std::string& path) override { return engine_->backup_to(path); }
  std::string_view dialect() const override { return engine_->dialect(); }

  EngineDatabase(std::unique_ptr<Engine> engine, std::unique_ptr<Connection> writing,
                 const DatabaseOptions& options, Clock& clock, CommitFault fault)
      : Database(clock),
        engine_(std::move(engine)),
        writer_(*engine_, std::move(writing), clock, options.queue_max, fault),
        readers_(*engine_, clock, options.readers) {}

 private:
  std::unique_ptr<Engine> engine_;
  // Readers close first: the last to close a SQLite database folds the log into it, and may write.
  GroupWriter writer_;
  ReaderPool readers_;
};

}  // namespace takt::store::internal
