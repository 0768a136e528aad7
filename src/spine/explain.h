// SPDX-License-Identifier: Apache-2.0
// What a station offers to the questions that cross stations: "why?" and the Line page.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "takt/base/ids.h"
#include "takt/base/value.h"

namespace takt::spine {

/// The answer about one thing: its state and reason in sentences with numbers, and what to do next.
struct Explanation {
  Ref ref;            // the thing's canonical name (an alias resolved); empty: as asked
  std::string title;  // "job 41 waits"
  std::string state;  // the station's own word: "waiting", "failed", "ready" …
  std::vector<std::string> lines;  // reasons and facts, most important first
  std::vector<std::string> next;   // commands or acts that help
  Value facts;                     // the same, structured (metrics, digests, approver …)
};

/// Implemented by a station for the kinds it owns; registered by app.
class Explainer {
 public:
  virtual ~Explainer() = default;
  /// "job", "run", "dataset" …
  virtual std::vector<std::string> kinds() const = 0;
  /// kNotFound when there is no such thing in the project.
  virtual Result<Explanation> explain(const ProjectId& project, const Ref& ref) = 0;
};

/// A station's part of the Line page.
struct LineStop {    // something that does not move
  std::string kind;  // waiting | failed | approval
  Ref subject;
  std::string text;    // with numbers
  std::string action;  // the command that helps
  std::int64_t since_ms = 0;
};
struct LineCard {
  std::string station;             // "data", "jobs" …
  std::int64_t total = 0;          // what exists
  std::int64_t moving = 0;         // what is in motion now
  std::vector<std::string> lines;  // two short lines
  std::vector<LineStop> stops;
  std::vector<Ref> pieces;  // things at this station now, at most 20
};
class LineSource {
 public:
  virtual ~LineSource() = default;
  virtual Result<LineCard> line_card(const ProjectId& project, std::int64_t since_ms) = 0;
};

}  // namespace takt::spine
