// SPDX-License-Identifier: Apache-2.0
#include "takt/store/database.h"

#include <gtest/gtest.h>

#include "takt/base/testing/temp_dir.h"

namespace takt::store {
namespace {
TEST(Database, smoke) {
  takt::testing::TempDir dir;
  auto db = Database::open({.location = dir.path() / "x.db"}, system_clock());
  ASSERT_TRUE(db) << db.error().text();
  auto s = (*db)->migrate({});
  ASSERT_TRUE(s) << s.error().text();
  std::int64_t n = 0;
  s = (*db)->write([&](Tx& tx) -> Status { TAKT_ASSIGN(n, tx.next_number("x")); return {}; });
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(n, 1);
}
}  // namespace
}  // namespace takt::store
