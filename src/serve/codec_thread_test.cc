// SPDX-License-Identifier: Apache-2.0
#include "takt/serve/codec_thread.h"

#include <gtest/gtest.h>

#include <future>

namespace takt::serve {
namespace {

TEST(CodecThread, runs_in_order_and_refuses_when_full) {
  std::promise<void> entered;
  std::promise<void> release;
  std::string order;
  {
    CodecThread thread(1);
    ASSERT_TRUE(thread.add([&] {
      entered.set_value();
      release.get_future().wait();
      order += 'a';
    }));
    entered.get_future().wait();
    ASSERT_TRUE(thread.add([&] { order += 'b'; }));
    EXPECT_EQ(thread.add([] {}).error().code, Code::kExhausted);
    release.set_value();
  }
  EXPECT_EQ(order, "ab");
}

}  // namespace
}  // namespace takt::serve
