// SPDX-License-Identifier: Apache-2.0
// The Line page: every station's card, what stopped, and the last hand-overs.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "takt/access/access.h"
#include "takt/spine/explain.h"
#include "takt/store/database.h"
#include "takt/store/event_log.h"

namespace takt::spine {

struct LineView {
  std::vector<LineCard> cards;  // in the order of the line
  std::vector<LineStop> stops;  // a person's turn first, then broken, then the longest waits
  std::vector<store::Event> hand_overs;  // newest first
  /// Hand-overs per station and hour of the last day, oldest hour first.
  struct Beat {
    std::string station;
    std::vector<int> per_hour;
  };
  std::vector<Beat> beats;
  UnixMs now_ms = 0;
};

class LineService {
 public:
  explicit LineService(store::Database& db) : db_(db) {}
  /// In the order of the line.
  void add(std::shared_ptr<LineSource> source) { sources_.push_back(std::move(source)); }
  Result<LineView> view(const access::CanRead& by, std::int64_t since_ms);

 private:
  store::Database& db_;
  std::vector<std::shared_ptr<LineSource>> sources_;
};

/// Which station an event's verb belongs to; "" for those that hand nothing over.
std::string_view station_of_verb(std::string_view verb);
/// Orders stops as the page shows them. Pure.
void sort_stops(std::vector<LineStop>& stops);

}  // namespace takt::spine
