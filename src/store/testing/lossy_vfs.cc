// SPDX-License-Identifier: Apache-2.0
#include "takt/store/testing/lossy_vfs.h"

#include <sqlite3.h>

#include <algorithm>
#include <atomic>
#include <map>
#include <mutex>
#include <string>
#include <vector>

#include "takt/base/file.h"

namespace takt::store::testing {
namespace {

/// What a write replaced; undone in reverse order.
struct Undo {
  sqlite3_int64 offset;
  std::string old_bytes;
  sqlite3_int64 old_size;
};

struct LossyState {
  sqlite3_vfs* real = nullptr;
  std::mutex mutex;
  std::map<std::string, std::vector<Undo>> unsynced;  // under mutex, by path
  std::atomic<int> failure = 0;
  std::atomic<std::int64_t> syncs = 0;
};

LossyState* g_state = nullptr;  // SQLite's C callbacks have no other way to it

struct LossyFile {
  sqlite3_file base;
  const char* path;
  sqlite3_file* real() { return reinterpret_cast<sqlite3_file*>(this + 1); }
};

LossyFile* lossy(sqlite3_file* file) { return reinterpret_cast<LossyFile*>(file); }
sqlite3_file* real_of(sqlite3_file* file) { return lossy(file)->real(); }

/// Call with the mutex held, before [offset, offset + size) changes or the file shrinks to offset.
void remember(LossyFile* file, sqlite3_int64 offset, sqlite3_int64 size) {
  sqlite3_file* real = file->real();
  Undo undo{.offset = offset, .old_bytes = {}, .old_size = 0};
  real->pMethods->xFileSize(real, &undo.old_size);
  const sqlite3_int64 end = std::min(offset + size, undo.old_size);
  if (end > offset) {
    undo.old_bytes.resize(static_cast<std::size_t>(end - offset));
    real->pMethods->xRead(real, undo.old_bytes.data(), static_cast<int>(end - offset), offset);
  }
  g_state->unsynced[file->path].push_back(std::move(undo));
}

int lossy_write(sqlite3_file* file, const void* bytes, int size, sqlite3_int64 offset) {
  if (const int failure = g_state->failure; failure != 0) return failure;
  const std::lock_guard lock(g_state->mutex);
  remember(lossy(file), offset, size);
  return real_of(file)->pMethods->xWrite(real_of(file), bytes, size, offset);
}

int lossy_truncate(sqlite3_file* file, sqlite3_int64 size) {
  const std::lock_guard lock(g_state->mutex);
  sqlite3_int64 old_size = 0;
  real_of(file)->pMethods->xFileSize(real_of(file), &old_size);
  remember(lossy(file), size, std::max<sqlite3_int64>(old_size - size, 0));
  return real_of(file)->pMethods->xTruncate(real_of(file), size);
}

int lossy_sync(sqlite3_file* file, int flags) {
  const std::lock_guard lock(g_state->mutex);
  ++g_state->syncs;
  g_state->unsynced[lossy(file)->path].clear();
  return real_of(file)->pMethods->xSync(real_of(file), flags);
}

const sqlite3_io_methods kLossyMethods{
    .iVersion = 2,
    .xClose = [](sqlite3_file* f) { return real_of(f)->pMethods->xClose(real_of(f)); },
    .xRead =
        [](sqlite3_file* f, void* to, int size, sqlite3_int64 offset) {
          return real_of(f)->pMethods->xRead(real_of(f), to, size, offset);
        },
    .xWrite = lossy_write,
    .xTruncate = lossy_truncate,
    .xSync = lossy_sync,
    .xFileSize =
        [](sqlite3_file* f, sqlite3_int64* size) {
          return real_of(f)->pMethods->xFileSize(real_of(f), size);
        },
    .xLock = [](sqlite3_file* f, int l) { return real_of(f)->pMethods->xLock(real_of(f), l); },
    .xUnlock = [](sqlite3_file* f, int l) { return real_of(f)->pMethods->xUnlock(real_of(f), l); },
    .xCheckReservedLock =
        [](sqlite3_file* f, int* out) {
          return real_of(f)->pMethods->xCheckReservedLock(real_of(f), out);
        },
    .xFileControl =
        [](sqlite3_file* f, int op, void* argument) {
          return real_of(f)->pMethods->xFileControl(real_of(f), op, argument);
        },
    .xSectorSize = [](sqlite3_file* f) { return real_of(f)->pMethods->xSectorSize(real_of(f)); },
    // None: the disk promises nothing (no power-safe overwrite, no atomic blocks).
    .xDeviceCharacteristics = [](sqlite3_file*) { return 0; },
    .xShmMap =
        [](sqlite3_file* f, int page, int size, int extend, void volatile** out) {
          return real_of(f)->pMethods->xShmMap(real_of(f), page, size, extend, out);
        },
    .xShmLock =
        [](sqlite3_file* f, int offset, int n, int flags) {
          return real_of(f)->pMethods->xShmLock(real_of(f), offset, n, flags);
        },
    .xShmBarrier = [](sqlite3_file* f) { real_of(f)->pMethods->xShmBarrier(real_of(f)); },
    .xShmUnmap = [](sqlite3_file* f,
                    int remove) { return real_of(f)->pMethods->xShmUnmap(real_of(f), remove); },
    .xFetch = nullptr,
    .xUnfetch = nullptr,
};

int lossy_open(sqlite3_vfs*, const char* path, sqlite3_file* file, int flags, int* out_flags) {
  LossyFile* self = lossy(file);
  self->path = path == nullptr ? "" : path;
  const int result = g_state->real->xOpen(g_state->real, path, self->real(), flags, out_flags);
  self->base.pMethods = self->real()->pMethods != nullptr ? &kLossyMethods : nullptr;
  return result;
}

sqlite3_vfs g_vfs;

/// The file as it is, with the unsynced writes taken back.
Result<std::string> synced_bytes(const std::filesystem::path& path) {
  TAKT_ASSIGN(std::string bytes, read_file(path, std::size_t{1} << 30));
  std::vector<Undo>& undos = g_state->unsynced[path.string()];
  for (auto undo = undos.rbegin(); undo != undos.rend(); ++undo) {
    bytes.resize(static_cast<std::size_t>(undo->old_size));
    bytes.replace(static_cast<std::size_t>(std::min(undo->offset, undo->old_size)),
                  undo->old_bytes.size(), undo->old_bytes);
  }
  return bytes;
}

}  // namespace

LossyVfs::LossyVfs() {
  TAKT_CHECK(g_state == nullptr, "a LossyVfs exists already");
  g_state = new LossyState{.real = sqlite3_vfs_find(nullptr)};
  g_vfs = *g_state->real;
  g_vfs.zName = "takt-lossy";
  g_vfs.pNext = nullptr;
  g_vfs.szOsFile = static_cast<int>(sizeof(LossyFile)) + g_state->real->szOsFile;
  g_vfs.xOpen = lossy_open;
  sqlite3_vfs_register(&g_vfs, 1);
}

LossyVfs::~LossyVfs() {
  sqlite3_vfs_unregister(&g_vfs);
  sqlite3_vfs_register(g_state->real, 1);
  delete std::exchange(g_state, nullptr);
}

Status LossyVfs::copy_as_after_power_cut(const std::filesystem::path& source,
                                         const std::filesystem::path& target) {
  const std::lock_guard lock(g_state->mutex);
  for (const char* part : {"", "-wal"}) {
    TAKT_ASSIGN(const std::string bytes, synced_bytes(source.string() + part));
    TAKT_RETURN_IF_ERROR(write_file_durably(target.string() + part, bytes));
  }
  return {};
}

void LossyVfs::fail_writes(int sqlite_result) { g_state->failure = sqlite_result; }

std::int64_t LossyVfs::syncs() const { return g_state->syncs; }

}  // namespace takt::store::testing
