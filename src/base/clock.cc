// SPDX-License-Identifier: Apache-2.0
#include "takt/base/clock.h"

#include <time.h>

#include <algorithm>
#include <cerrno>
#include <cstdio>

namespace takt {
namespace {

constexpr std::int64_t kDayMs = 86'400'000;
constexpr UnixMs kTimeMsMin = -62'167'219'200'000;  // 0000-01-01T00:00:00.000Z
constexpr UnixMs kTimeMsMax = 253'402'300'799'999;  // 9999-12-31T23:59:59.999Z

std::int64_t read_clock_us(clockid_t id) {
  timespec now{};
  TAKT_CHECK(clock_gettime(id, &now) == 0, "clock_gettime failed");
  return static_cast<std::int64_t>(now.tv_sec) * 1'000'000 + now.tv_nsec / 1000;
}

class SystemClock final : public Clock {
 public:
  UnixMs now_ms() const override { return read_clock_us(CLOCK_REALTIME) / 1000; }
  Mono mono() const override { return {read_clock_us(CLOCK_MONOTONIC)}; }
  void sleep_ms(std::int64_t duration_ms) const override {
    if (duration_ms <= 0) return;
    timespec left{static_cast<time_t>(duration_ms / 1000), (duration_ms % 1000) * 1'000'000};
    while (clock_nanosleep(CLOCK_MONOTONIC, 0, &left, &left) == EINTR) {
    }
  }
};

struct CivilDate {
  std::int64_t year;
  int month;
  int day;
};

// Proleptic Gregorian calendar, days since 1970-01-01 (H. Hinnant, chrono-compatible algorithms).
std::int64_t days_from_civil(CivilDate date) {
  const std::int64_t y = date.year - (date.month <= 2 ? 1 : 0);
  const std::int64_t era = (y >= 0 ? y : y - 399) / 400;
  const std::int64_t year_of_era = y - era * 400;
  const std::int64_t day_of_year =
      (153 * (date.month + (date.month > 2 ? -3 : 9)) + 2) / 5 + date.day - 1;
  return era * 146'097 + year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year -
         719'468;
}

CivilDate civil_from_days(std::int64_t days) {
  days += 719'468;
  const std::int64_t era = (days >= 0 ? days : days - 146'096) / 146'097;
  const std::int64_t day_of_era = days - era * 146'097;
  const std::int64_t year_of_era =
      (day_of_era - day_of_era / 1460 + day_of_era / 36'524 - day_of_era / 146'096) / 365;
  const std::int64_t day_of_year =
      day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
  const std::int64_t shifted_month = (5 * day_of_year + 2) / 153;
  const int month = static_cast<int>(shifted_month < 10 ? shifted_month + 3 : shifted_month - 9);
  const int day = static_cast<int>(day_of_year - (153 * shifted_month + 2) / 5 + 1);
  return {year_of_era + era * 400 + (month <= 2 ? 1 : 0), month, day};
}

int days_in_month(std::int64_t year, int month) {
  constexpr int kDays[] = {31, 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31};
  const bool is_leap = (year % 4 == 0 && year % 100 != 0) || year % 400 == 0;
  return month == 2 && is_leap ? 29 : kDays[month - 1];
}

// Takes exactly `digits` digits off the front of `text`; -1 when they are not there.
int take_digits(std::string_view& text, std::size_t digits) {
  if (text.size() < digits) return -1;
  int number = 0;
  for (std::size_t i = 0; i < digits; ++i) {
    if (text[i] < '0' || text[i] > '9') return -1;
    number = number * 10 + (text[i] - '0');
  }
  text.remove_prefix(digits);
  return number;
}

bool take_char(std::string_view& text, std::string_view any_of) {
  if (text.empty() || any_of.find(text.front()) == std::string_view::npos) return false;
  text.remove_prefix(1);
  return true;
}

// ".123456" -> 123; at most nine digits, cut to milliseconds. -1 when malformed.
int take_fraction_ms(std::string_view& text) {
  if (!take_char(text, ".")) return 0;
  int ms = 0;
  int digits = 0;
  while (!text.empty() && text.front() >= '0' && text.front() <= '9' && digits < 9) {
    if (digits < 3) ms = ms * 10 + (text.front() - '0');
    text.remove_prefix(1);
    ++digits;
  }
  if (digits == 0) return -1;
  for (int i = digits; i < 3; ++i) ms *= 10;
  return ms;
}

// "Z" or "+02:00" -> minutes east of UTC.
bool take_offset(std::string_view& text, int& minutes) {
  minutes = 0;
  if (take_char(text, "Zz")) return true;
  if (text.empty()) return false;
  const int sign = text.front() == '-' ? -1 : 1;
  if (!take_char(text, "+-")) return false;
  const int hours = take_digits(text, 2);
  if (hours < 0 || hours > 23 || !take_char(text, ":")) return false;
  const int rest = take_digits(text, 2);
  if (rest < 0 || rest > 59) return false;
  minutes = sign * (hours * 60 + rest);
  return true;
}

bool read_time(std::string_view text, UnixMs& time_ms) {
  const int year = take_digits(text, 4);
  if (year < 0 || !take_char(text, "-")) return false;
  const int month = take_digits(text, 2);
  if (month < 1 || month > 12 || !take_char(text, "-")) return false;
  const int day = take_digits(text, 2);
  if (day < 1 || day > days_in_month(year, month) || !take_char(text, "Tt ")) return false;
  const int hour = take_digits(text, 2);
  if (hour < 0 || hour > 23 || !take_char(text, ":")) return false;
  const int minute = take_digits(text, 2);
  if (minute < 0 || minute > 59 || !take_char(text, ":")) return false;
  const int second = take_digits(text, 2);
  if (second < 0 || second > 59) return false;
  const int ms = take_fraction_ms(text);
  int offset_minutes = 0;
  if (ms < 0 || !take_offset(text, offset_minutes) || !text.empty()) return false;
  time_ms = days_from_civil({year, month, day}) * kDayMs +
            ((hour * 60LL + minute - offset_minutes) * 60 + second) * 1000 + ms;
  return true;
}

}  // namespace

Clock& system_clock() {
  static SystemClock clock;
  return clock;
}

std::string format_time(UnixMs time_ms) {
  time_ms = std::clamp(time_ms, kTimeMsMin, kTimeMsMax);
  std::int64_t days = time_ms / kDayMs;
  std::int64_t ms = time_ms % kDayMs;
  if (ms < 0) {
    ms += kDayMs;
    --days;
  }
  const CivilDate date = civil_from_days(days);
  char text[64];
  std::snprintf(text, sizeof text, "%04d-%02d-%02dT%02d:%02d:%02d.%03dZ",
                static_cast<int>(date.year), date.month, date.day, static_cast<int>(ms / 3'600'000),
                static_cast<int>(ms / 60'000 % 60), static_cast<int>(ms / 1000 % 60),
                static_cast<int>(ms % 1000));
  return text;
}

Result<UnixMs> parse_time(std::string_view text) {
  UnixMs time_ms = 0;
  if (!read_time(text, time_ms)) {
    return fail(Code::kInvalid, "not a time: \"" + std::string(text.substr(0, 64)) + "\"",
                "write it as 2026-11-30T14:36:05Z");
  }
  return time_ms;
}

}  // namespace takt
