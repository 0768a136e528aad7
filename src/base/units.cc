// SPDX-License-Identifier: Apache-2.0
#include "takt/base/units.h"

#include <array>
#include <cstdio>
#include <limits>
#include <optional>

#include "takt/base/utf8.h"

namespace takt {
namespace {

constexpr std::int64_t kMillicoresMax = 1'000'000'000;

std::string quoted_amount(std::string_view text) { return "\"" + shorten(text, 40) + "\""; }

// A decimal number off the front of a text: digits, and at most 18 of them.
struct Decimal {
  std::int64_t digits = 0;            // without the point
  std::int64_t fraction_divisor = 1;  // 10 to the number of digits after the point
};

std::optional<Decimal> take_decimal(std::string_view& text) {
  Decimal decimal;
  int count = 0;
  bool after_point = false;
  while (!text.empty()) {
    const char c = text.front();
    if (c == '.' && !after_point && count > 0) {
      after_point = true;
    } else if (c >= '0' && c <= '9') {
      if (++count > 18) return std::nullopt;
      decimal.digits = decimal.digits * 10 + (c - '0');
      if (after_point) decimal.fraction_divisor *= 10;
    } else {
      break;
    }
    text.remove_prefix(1);
  }
  if (count == 0) return std::nullopt;
  return decimal;
}

// decimal * scale when that is a whole number in range.
std::optional<std::int64_t> scaled(Decimal decimal, std::int64_t scale, bool must_be_whole) {
  __extension__ using Wide = __int128;
  const Wide product = static_cast<Wide>(decimal.digits) * scale;
  if (must_be_whole && product % decimal.fraction_divisor != 0) return std::nullopt;
  const Wide value = product / decimal.fraction_divisor;
  if (value > std::numeric_limits<std::int64_t>::max()) return std::nullopt;
  return static_cast<std::int64_t>(value);
}

struct Unit {
  std::string_view name;
  std::int64_t scale;
};

constexpr std::array<Unit, 23> kByteUnits{{
    {"", 1},
    {"B", 1},
    {"k", 1'000},
    {"K", 1'000},
    {"kB", 1'000},
    {"KB", 1'000},
    {"M", 1'000'000},
    {"MB", 1'000'000},
    {"G", 1'000'000'000},
    {"GB", 1'000'000'000},
    {"T", 1'000'000'000'000},
    {"TB", 1'000'000'000'000},
    {"P", 1'000'000'000'000'000},
    {"PB", 1'000'000'000'000'000},
    {"Ki", 1LL << 10},
    {"KiB", 1LL << 10},
    {"Mi", 1LL << 20},
    {"MiB", 1LL << 20},
    {"Gi", 1LL << 30},
    {"GiB", 1LL << 30},
    {"Ti", 1LL << 40},
    {"TiB", 1LL << 40},
    {"PiB", 1LL << 50},
}};

// From long to short, so that "ms" is not read as minutes.
constexpr std::array<Unit, 5> kDurationUnits{{
    {"ms", 1},
    {"s", 1'000},
    {"m", 60'000},
    {"h", 3'600'000},
    {"d", 86'400'000},
}};

std::optional<std::int64_t> read_cpu(std::string_view text) {
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal || (text != "" && text != "m")) return std::nullopt;
  return scaled(*decimal, text == "m" ? 1 : 1000, true);
}

std::optional<std::int64_t> read_bytes(std::string_view text) {
  const std::optional<Decimal> decimal = take_decimal(text);
  if (!decimal) return std::nullopt;
  while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
  for (const Unit& unit : kByteUnits) {
    if (unit.name == text) return scaled(*decimal, unit.scale, unit.scale == 1);
  }
  return std::nullopt;
}

std::optional<std::int64_t> read_duration(std::string_view text) {
  std::int64_t total_ms = 0;
  std::int64_t scale_before = std::numeric_limits<std::int64_t>::max();
  while (!text.empty()) {
    const std::optional<Decimal> decimal = take_decimal(text);
    if (!decimal) return std::nullopt;
    const Unit* unit = nullptr;
    for (const Unit& candidate : kDurationUnits) {
      if (text.starts_with(candidate.name)) {
        unit = &candidate;
        break;
      }
    }
    // Units come from large to small, each once: 1h30m.
    if (unit == nullptr || unit->scale >= scale_before) return std::nullopt;
    scale_before = unit->scale;
    text.remove_prefix(unit->name.size());
    const std::optional<std::int64_t> part = scaled(*decimal, unit->scale, true);
    if (!part || __builtin_add_overflow(total_ms, *part, &total_ms)) return std::nullopt;
  }
  return total_ms;
}

}  // namespace

Result<std::int64_t> parse_cpu(std::string_view text) {
  const std::optional<std::int64_t> millicores = read_cpu(text);
  if (!millicores) {
    return fail(Code::kInvalid, "not an amount of CPU: " + quoted_amount(text),
                "write 500m, 0.5 or 2");
  }
  if (*millicores > kMillicoresMax) {
    return fail(Code::kInvalid, "more CPU than there can be: " + quoted_amount(text));
  }
  return *millicores;
}

Result<std::int64_t> parse_bytes(std::string_view text) {
  const std::optional<std::int64_t> bytes = read_bytes(text);
  if (!bytes) {
    return fail(Code::kInvalid, "not a size: " + quoted_amount(text),
                "write 512MiB, 1GiB, 100MB or a number of bytes");
  }
  return *bytes;
}

Result<std::int64_t> parse_duration_ms(std::string_view text) {
  const std::optional<std::int64_t> ms = text.empty() ? std::nullopt : read_duration(text);
  if (!ms) {
    return fail(Code::kInvalid, "not a duration: " + quoted_amount(text),
                "write 90s, 10m, 1h30m or 250ms");
  }
  return *ms;
}

std::string format_cpu(std::int64_t millicores) {
  if (millicores % 1000 == 0) return std::to_string(millicores / 1000);
  return std::to_string(millicores) + "m";
}

std::string format_bytes(std::int64_t bytes) {
  constexpr std::array<const char*, 6> kNames{"B", "KiB", "MiB", "GiB", "TiB", "PiB"};
  double amount = static_cast<double>(bytes);
  std::size_t step = 0;
  while ((amount >= 1023.95 || amount <= -1023.95) && step + 1 < kNames.size()) {
    amount /= 1024;
    ++step;
  }
  char text[64];
  std::snprintf(text, sizeof text, step == 0 ? "%.0f %s" : "%.1f %s", amount, kNames[step]);
  std::string result = text;
  if (const std::size_t zero = result.find(".0 "); zero != std::string::npos) result.erase(zero, 2);
  return result;
}

std::string format_duration_ms(std::int64_t ms) {
  if (ms < 0) return "-" + format_duration_ms(ms == INT64_MIN ? INT64_MAX : -ms);
  if (ms < 1000) return std::to_string(ms) + " ms";
  char text[64];
  if (ms < 60'000) {
    const std::int64_t tenths = ms / 100;
    if (tenths % 10 == 0 || tenths >= 100) return std::to_string(tenths / 10) + " s";
    std::snprintf(text, sizeof text, "%lld.%lld s", static_cast<long long>(tenths / 10),
                  static_cast<long long>(tenths % 10));
    return text;
  }
  struct Step {
    std::int64_t ms;
    const char* name;
  };
  constexpr std::array<Step, 4> kSteps{
      {{86'400'000, "d"}, {3'600'000, "h"}, {60'000, "min"}, {1'000, "s"}}};
  for (std::size_t i = 0; i + 1 < kSteps.size(); ++i) {
    if (ms < kSteps[i].ms) continue;
    std::string result = std::to_string(ms / kSteps[i].ms) + " " + kSteps[i].name;
    const std::int64_t rest = ms % kSteps[i].ms / kSteps[i + 1].ms;
    if (rest > 0) result += " " + std::to_string(rest) + " " + kSteps[i + 1].name;
    return result;
  }
  return std::to_string(ms / 1000) + " s";
}

}  // namespace takt
