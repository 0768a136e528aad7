// SPDX-License-Identifier: Apache-2.0
#include "takt/track/curve.h"

#include <algorithm>
#include <tuple>

#include "takt/track/metric_chunk.h"

namespace takt::track {
namespace {

// Comparisons with not-a-number are false.
bool is_lower(double a, double b) { return a < b || (std::isnan(b) && !std::isnan(a)); }
bool is_higher(double a, double b) { return a > b || (std::isnan(b) && !std::isnan(a)); }

}  // namespace

std::int64_t CurveBuilder::place_of_next(const Point& point) const {
  if (axis_ == CurveAxis::kStep) return point.step;
  return axis_ == CurveAxis::kTime ? point.timestamp_ms : count_;
}

void CurveBuilder::join(Stretch& into, const Stretch& next) const {
  if (is_lower(next.low.value, into.low.value)) into.low = next.low;
  if (is_higher(next.high.value, into.high.value)) into.high = next.high;
  // Histories are in the order of time, so only steps may go back.
  if (axis_ != CurveAxis::kStep || next.last.step >= into.last.step) into.last = next.last;
  into.count += next.count;
}

void CurveBuilder::add(const Point& point) {
  const std::int64_t key = place_of_next(point) >> shift_;
  ++count_;
  const Stretch single{1, point, point, point};
  if (latest_ != stretches_.end() && latest_->first == key) return join(latest_->second, single);
  bool is_new = false;
  std::tie(latest_, is_new) = stretches_.try_emplace(key, single);
  if (!is_new) return join(latest_->second, single);
  while (stretches_.size() > stretches_max_) widen();
}

/// Makes each two stretches that are side by side one.
void CurveBuilder::widen() {
  ++shift_;
  std::map<std::int64_t, Stretch> wider;
  for (const auto& [key, stretch] : stretches_) {
    const auto [place, is_first] = wider.try_emplace(key >> 1, stretch);
    if (!is_first) join(place->second, stretch);
  }
  stretches_ = std::move(wider);
  latest_ = stretches_.end();
}

std::vector<Stretch> CurveBuilder::stretches() const {
  std::vector<Stretch> all;
  for (const auto& [key, stretch] : stretches_) all.push_back(stretch);
  return all;
}

Thinner::Thinner(std::size_t max)
    : max_(max), curve_(CurveAxis::kOrder, std::max<std::size_t>((max - 1) / 3, 1)) {}

void Thinner::add(const Point& point) {
  if (first_.size() < max_) first_.push_back(point);
  curve_.add(point);
}

std::vector<Point> Thinner::points() const {
  std::vector<Point> kept;
  if (!is_thinned()) {
    kept = first_;
  } else {
    kept.push_back(first_.front());
    for (const Stretch& stretch : curve_.stretches())
      kept.insert(kept.end(), {stretch.low, stretch.high, stretch.last});
    std::ranges::sort(kept, comes_before);
    const auto repeated = std::ranges::unique(kept, is_same_point);
    kept.erase(repeated.begin(), repeated.end());
    if (kept.size() > max_) kept.erase(kept.begin() + static_cast<long>(max_) - 1, kept.end() - 1);
  }
  std::ranges::stable_sort(kept, {}, &Point::step);
  return kept;
}

}  // namespace takt::track
