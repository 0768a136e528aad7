// SPDX-License-Identifier: Apache-2.0
#include "takt/store/database.h"

#include <gtest/gtest.h>

#include "takt/base/testing/temp_dir.h"
#include "takt/store/sql.h"
#include "takt/store/testing/database_pair.h"

namespace takt::store {
namespace {
TEST(Database, smoke) {
  for (auto& db : testing::open_both()) {
    SCOPED_TRACE(db->dialect());
    testing::check_statements(*db, sql::kAll);
  std::int64_t n = 0;
  auto s = db->write([&](Tx& tx) -> Status { TAKT_ASSIGN(n, tx.next_number("x")); return {}; });
  ASSERT_TRUE(s) << s.error().text();
  EXPECT_EQ(n, 1);
  }
}
}  // namespace
}  // namespace takt::store
