// SPDX-License-Identifier: Apache-2.0
#include "takt/net/upstream.h"

#include <mutex>

#include "takt/net/internal/upstream_loop.h"

namespace takt::net {

struct UpstreamPool::Impl {
  std::shared_ptr<internal::UpstreamLoop> of_this_thread() {
    std::lock_guard lock(mutex);
    internal::Loop* current = internal::Loop::current();
    if (current == nullptr) {
      if (!own) {
        own = std::make_shared<internal::Loop>(clock);
        own->start();
      }
      current = own.get();
    }
    auto& found = loops[current];
    if (!found) {
      found = std::make_shared<internal::UpstreamLoop>(current->shared_from_this(), options);
    }
    return found;
  }

  const Clock& clock;
  const UpstreamOptions options;
  std::mutex mutex;
  std::map<internal::Loop*, std::shared_ptr<internal::UpstreamLoop>> loops;
  std::shared_ptr<internal::Loop> own;  // for callers off the network threads
};

UpstreamPool::UpstreamPool(const Clock& clock, UpstreamOptions options)
    : impl_(new Impl{clock, options, {}, {}, {}}) {}

UpstreamPool::~UpstreamPool() {
  for (auto& [loop, upstream] : impl_->loops) {
    if (loop->is_stopped()) {
      upstream->close();
    } else {
      internal::asio::post(loop->executor(), [upstream] { upstream->close(); });
    }
  }
  if (impl_->own) impl_->own->stop();
}

std::shared_ptr<UpstreamCall> UpstreamPool::send(UpstreamRequest request,
                                                 std::function<void(UpstreamResult)> done) {
  auto call = std::make_shared<internal::LoopCall>(std::move(request), std::move(done));
  auto upstream = impl_->of_this_thread();
  if (upstream->loop().is_own_thread()) {
    upstream->start(call);
  } else {
    internal::asio::post(upstream->loop().executor(), [upstream, call] { upstream->start(call); });
  }
  return call;
}

void UpstreamPool::forget(const std::string& target) {
  std::lock_guard lock(impl_->mutex);
  for (auto& [loop, upstream] : impl_->loops) {
    internal::asio::post(loop->executor(), [upstream, target] { upstream->forget(target); });
  }
}

}  // namespace takt::net
