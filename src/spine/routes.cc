// SPDX-License-Identifier: Apache-2.0
#include "takt/spine/routes.h"

#include <charconv>

#include "takt/base/units.h"
#include "takt/spine/blob_routes.h"
#include "takt/spine/go.h"

namespace takt::spine {
namespace {

using access::Right;
using net::Method;
using net::Request;
using net::Response;

constexpr int kDepthDefault = 8;
constexpr int kDepthMax = 50;

Value json_of(const LineageGraph& graph) {
  Array nodes, edges;
  for (const LineageNode& node : graph.nodes)
    nodes.push_back(
        Object{{"ref", node.ref.text()}, {"depth", node.depth}, {"path", console_path(node.ref)}});
  for (const store::Edge& edge : graph.edges)
    edges.push_back(Object{{"from", edge.from.text()},
                           {"relation", edge.relation},
                           {"to", edge.to.text()},
                           {"time_at", format_time(edge.time_ms)}});
  return Object{{"nodes", std::move(nodes)}, {"edges", std::move(edges)}};
}

Array texts_of(const std::vector<std::string>& texts) {
  Array array;
  for (const std::string& text : texts) array.push_back(text);
  return array;
}

Array refs_of(const std::vector<Ref>& refs) {
  Array array;
  for (const Ref& ref : refs) array.push_back(ref.text());
  return array;
}

Value json_of(const WhyAnswer& answer) {
  Object object{{"candidates", refs_of(answer.candidates)}};
  if (!answer.candidates.empty()) return object;
  object["ref"] = answer.ref.text();
  object["path"] = console_path(answer.ref);
  object["title"] = answer.explanation.title;
  object["state"] = answer.explanation.state;
  object["lines"] = texts_of(answer.explanation.lines);
  object["next"] = texts_of(answer.explanation.next);
  object["facts"] = answer.explanation.facts.is_null() ? Value(Object{}) : answer.explanation.facts;
  object["lineage"] = json_of(answer.lineage);
  return object;
}

Value json_of(const LineStop& stop) {
  return Object{{"kind", stop.kind},
                {"subject", stop.subject.text()},
                {"path", console_path(stop.subject)},
                {"text", stop.text},
                {"action", stop.action},
                {"since_at", format_time(stop.since_ms)}};
}

Value json_of(const LineCard& card) {
  return Object{{"station", card.station},
                {"total", card.total},
                {"moving", card.moving},
                {"lines", texts_of(card.lines)},
                {"pieces", refs_of(card.pieces)}};
}

Value json_of(const LineView& view) {
  Array cards, stops, hand_overs, beats;
  for (const auto& card : view.cards) cards.push_back(json_of(card));
  for (const auto& stop : view.stops) stops.push_back(json_of(stop));
  for (const auto& event : view.hand_overs) hand_overs.push_back(store::to_value(event));
  for (const auto& beat : view.beats) {
    Array counts;
    for (int count : beat.per_hour) counts.push_back(count);
    beats.push_back(Object{{"station", beat.station}, {"per_hour", std::move(counts)}});
  }
  return Object{{"now_at", format_time(view.now_ms)},
                {"cards", std::move(cards)},
                {"stops", std::move(stops)},
                {"hand_overs", std::move(hand_overs)},
                {"beats", std::move(beats)}};
}

Result<Response> list_events(const Services& s, Request& request) {
  TAKT_ASSIGN(const auto by, s.policy.check<Right::kRead>(request.caller, "event"));
  TAKT_ASSIGN(const std::int64_t limit, request.query_integer("limit", 100, 1, 1000));
  TAKT_ASSIGN(const std::int64_t before, request.query_integer("before", 0, 0, INT64_MAX));
  TAKT_ASSIGN(const std::int64_t after, request.query_integer("after", -1, -1, INT64_MAX));
  std::vector<store::Event> events;
  std::int64_t last = 0;
  TAKT_RETURN_IF_ERROR(s.db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(last, store::last_event_sequence(reader));
    if (after >= 0) {
      TAKT_ASSIGN(events, store::read_events(reader, after, static_cast<int>(limit), by.project()));
    } else {
      TAKT_ASSIGN(events, store::recent_events(reader, by.project(), request.query_param("subject"),
                                               before, static_cast<int>(limit)));
    }
    return {};
  }));
  Array items;
  for (const auto& event : events) items.push_back(store::to_value(event));
  Object body{{"items", std::move(items)}, {"last_sequence", last}};
  if (static_cast<std::int64_t>(events.size()) == limit)
    body["next_page_token"] = std::to_string(events.back().sequence);
  return Response::json(std::move(body));
}

Result<Response> stream_events(const Services& s, Request& request) {
  TAKT_ASSIGN(const auto by, s.policy.check<Right::kRead>(request.caller, "event"));
  TAKT_ASSIGN(std::int64_t after, request.query_integer("after", -1, -1, INT64_MAX));
  if (const auto last_id = request.headers.get("Last-Event-ID"); !last_id.empty()) {
    const auto [end, error] =
        std::from_chars(last_id.data(), last_id.data() + last_id.size(), after);
    if (error != std::errc() || end != last_id.data() + last_id.size() || after < 0)
      return fail(Code::kInvalid, "Last-Event-ID '" + std::string(last_id) + "' is no sequence",
                  "send the id of the last event, or none");
  }
  std::int64_t last = 0;
  TAKT_RETURN_IF_ERROR(s.db.read([&](store::Reader& reader) -> Status {
    TAKT_ASSIGN(last, store::last_event_sequence(reader));
    return {};
  }));
  if (after < 0) after = last;
  // Ahead of the log is who followed it before a backup was restored.
  if (after > last || last - after > EventStream::kBacklogMax) {
    const std::string distance =
        after > last ? "not written yet" : std::to_string(last - after) + " events back";
    return Response::json(
        Object{{"error", Object{{"code", "conflict"},
                                {"message", "event " + std::to_string(after) + " is " + distance},
                                {"hint", "fetch afresh and follow from " + std::to_string(last)}}}},
        410);
  }
  TAKT_RETURN_IF_ERROR(s.events.check_room());
  Response response;
  response.headers.set("Content-Type", "text/event-stream");
  response.headers.set("Cache-Control", "no-store");
  response.body = net::PushBody(
      [&events = s.events, project = by.project(), after](std::shared_ptr<net::StreamSink> sink) {
        sink->send(": connected\n\n");
        if (!events.subscribe(sink, project, after)) sink->close();
      });
  return response;
}

Result<Response> why(const Services& s, Request& request) {
  TAKT_ASSIGN(const auto by, s.policy.check<Right::kRead>(request.caller, "lineage"));
  const std::string ref(request.query_param("ref"));
  if (ref.empty())
    return fail(Code::kInvalid, "the query has no ref", "ask for /api/v1/why?ref=job/41", "ref");
  TAKT_ASSIGN(const std::int64_t depth,
              request.query_integer("depth", kDepthDefault, 1, kDepthMax));
  TAKT_ASSIGN(const WhyAnswer answer, s.why.why(by, ref, static_cast<int>(depth)));
  return Response::json(json_of(answer));
}

Result<Response> lineage(const Services& s, Request& request) {
  TAKT_ASSIGN(const auto by, s.policy.check<Right::kRead>(request.caller, "lineage"));
  TAKT_ASSIGN(const Ref ref, parse_ref(request.query_param("ref")));
  TAKT_ASSIGN(const std::int64_t depth,
              request.query_integer("depth", kDepthDefault, 1, kDepthMax));
  TAKT_ASSIGN(const LineageGraph graph, s.why.lineage(by, ref, static_cast<int>(depth)));
  return Response::json(json_of(graph));
}

Result<Response> go(const Services& s, Request& request) {
  TAKT_ASSIGN(const auto by, s.policy.check<Right::kRead>(request.caller, "lineage"));
  TAKT_ASSIGN(const std::vector<Ref> refs, s.why.candidates(by, request.path_param("thing")));
  Array items;
  for (const Ref& ref : refs)
    items.push_back(Object{{"ref", ref.text()}, {"path", console_path(ref)}});
  return Response::json(Object{{"items", std::move(items)}});
}

Result<Response> line(const Services& s, Request& request) {
  TAKT_ASSIGN(const auto by, s.policy.check<Right::kRead>(request.caller, "line"));
  std::string since(request.query_param("since"));
  TAKT_ASSIGN(const std::int64_t span_ms, parse_duration_ms(since.empty() ? "24h" : since));
  TAKT_ASSIGN(const LineView view, s.line.view(by, s.db.clock().now_ms() - span_ms));
  return Response::json(json_of(view));
}

}  // namespace

void register_routes(net::Router& router, const Services& s) {
  register_blob_routes(router, s.blobs, s.policy);
  router.add(Method::kGet, "/api/v1/events", [s](Request& r) { return list_events(s, r); });
  router.add(Method::kGet, "/api/v1/events/stream",
             [s](Request& r) { return stream_events(s, r); });
  router.add(Method::kGet, "/api/v1/why", [s](Request& r) { return why(s, r); });
  router.add(Method::kGet, "/api/v1/lineage", [s](Request& r) { return lineage(s, r); });
  router.add(Method::kGet, "/api/v1/go/{thing...}", [s](Request& r) { return go(s, r); });
  router.add(Method::kGet, "/api/v1/line", [s](Request& r) { return line(s, r); });
}

}  // namespace takt::spine
