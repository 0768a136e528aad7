// SPDX-License-Identifier: Apache-2.0
#include "takt/spine/line.h"

#include <algorithm>
#include <array>

#include "takt/base/log.h"

namespace takt::spine {
namespace {

constexpr std::int64_t kHourMs = 3600 * 1000;
constexpr int kHours = 24;
constexpr int kHandOversShown = 8;
constexpr int kEventsRead = 5000;

/// The events that hand something from one station to the next.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kHandOvers = {{
    {"dataset.version-added", "data"},
    {"job.submitted", "jobs"},
    {"job.ended", "jobs"},
    {"run.ended", "runs"},
    {"model.version-added", "models"},
    {"model.alias-set", "models"},
    {"revision.ready", "services"},
    {"traffic.changed", "services"},
    {"node.approved", "pipelines"},
}};

int rank_of(const LineStop& stop) {
  if (stop.kind == "approval") return 0;
  return stop.kind == "failed" ? 1 : 2;
}

std::vector<LineView::Beat> beats_of(const std::vector<store::Event>& events, UnixMs now_ms) {
  std::vector<LineView::Beat> beats;
  for (std::string_view station : {"data", "jobs", "runs", "models", "services", "pipelines"})
    beats.push_back({std::string(station), std::vector<int>(kHours, 0)});
  for (const store::Event& event : events) {
    const std::int64_t hours_ago = (now_ms - event.time_ms) / kHourMs;
    if (hours_ago < 0 || hours_ago >= kHours) continue;
    for (auto& beat : beats)
      if (beat.station == station_of_verb(event.verb))
        ++beat.per_hour[static_cast<std::size_t>(kHours - 1 - hours_ago)];
  }
  return beats;
}

}  // namespace

std::string_view station_of_verb(std::string_view verb) {
  for (const auto& [known, station] : kHandOvers)
    if (known == verb) return station;
  return "";
}

void sort_stops(std::vector<LineStop>& stops) {
  std::ranges::stable_sort(stops, [](const LineStop& a, const LineStop& b) {
    if (rank_of(a) != rank_of(b)) return rank_of(a) < rank_of(b);
    return a.since_ms < b.since_ms;
  });
}

Result<LineView> LineService::view(const access::CanRead& by, std::int64_t since_ms) {
  LineView view;
  view.now_ms = db_.clock().now_ms();
  for (const auto& source : sources_) {
    auto card = source->line_card(by.project(), since_ms);
    if (!card) {
      // One broken station does not hide the others.
      log_warn("a station's line card failed", {{"error", card.error().text()}});
      continue;
    }
    for (const LineStop& stop : card->stops) view.stops.push_back(stop);
    view.cards.push_back(std::move(*card));
  }
  sort_stops(view.stops);
  std::vector<store::Event> events;
  TAKT_RETURN_IF_ERROR(db_.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(events, store::recent_events(reader, by.project(), "", 0, kEventsRead));
    return {};
  }));
  view.beats = beats_of(events, view.now_ms);
  for (store::Event& event : events) {
    if (view.hand_overs.size() == kHandOversShown) break;
    if (!station_of_verb(event.verb).empty()) view.hand_overs.push_back(std::move(event));
  }
  return view;
}

}  // namespace takt::spine
