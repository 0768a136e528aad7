// SPDX-License-Identifier: Apache-2.0
// bench-load: one HTTP/1.1 request sent over and over by a fixed number of kept-alive connections,
// each waiting for its answer before the next (a closed loop). One thread, plain epoll. Prints one
// line of JSON. Loopback only; ends by itself after --seconds or --requests, and in any case after
// kRunSecondsMax. Several --body are dealt out to the connections in turn; where a body has the
// word #COUNTER, each request gets a number of eight digits of its own, from 10000000 on.
#include <arpa/inet.h>
#include <fcntl.h>
#include <netinet/tcp.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kRunSecondsMax = 120;
constexpr std::size_t kSamplesMax = 8'000'000;     // latencies kept, 4 bytes each
constexpr std::size_t kAnswerBytesMax = 64 << 20;  // of one answer
constexpr int kConnectionsMax = 1024;
constexpr std::string_view kCounter = "#COUNTER";
constexpr std::int64_t kCounterFirst = 10'000'000;

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "bench-load: %s\n", message.c_str());
  std::exit(2);
}

[[noreturn]] void die_errno(const char* what) {
  die(std::string(what) + ": " + std::strerror(errno));
}

struct Options {
  sockaddr_in target{};
  std::string host;  // as in the Host header
  std::string method = "GET";
  std::string path = "/";
  std::vector<std::string> headers;
  std::vector<std::string> bodies;
  int connections = 1;
  double seconds = 0;
  double warmup_seconds = 0;
  std::int64_t requests = 0;
};

struct Totals {
  std::vector<float> latencies_us;
  std::int64_t errors = 0;  // answers that are not 2xx, and broken connections
  int last_bad_status = 0;
  Clock::time_point counting_from, last_answer;
  double cpu_s_before = 0;
};

double own_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

template <class T>
T parse_number(std::string_view name, std::string_view text) {
  T number{};
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc() || end != text.data() + text.size() || number < 0)
    die(std::string(name) + ": '" + std::string(text) + "' is no number");
  return number;
}

/// HOST:PORT with a dotted address of 127.0.0.0/8.
sockaddr_in parse_target(const std::string& text) {
  const auto colon = text.rfind(':');
  if (colon == std::string::npos) die("--target wants ADDRESS:PORT");
  sockaddr_in address{};
  address.sin_family = AF_INET;
  address.sin_port = htons(parse_number<std::uint16_t>("--target", text.substr(colon + 1)));
  if (::inet_pton(AF_INET, text.substr(0, colon).c_str(), &address.sin_addr) != 1 ||
      ntohl(address.sin_addr.s_addr) >> 24 != 127)
    die("--target must be an address of 127.0.0.0/8: this program loads its own machine only");
  return address;
}

std::string read_body(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) die("cannot read " + path);
  return {std::istreambuf_iterator<char>(file), {}};
}

Options parse_options(int count, char** words) {
  Options options;
  for (int i = 1; i + 1 < count; i += 2) {
    const std::string_view name = words[i];
    const std::string value = words[i + 1];
    if (name == "--target") {
      options.target = parse_target(value);
      options.host = value;
    } else if (name == "--method") {
      options.method = value;
    } else if (name == "--path") {
      options.path = value;
    } else if (name == "--header") {
      options.headers.push_back(value);
    } else if (name == "--body") {
      options.bodies.push_back(read_body(value));
    } else if (name == "--connections") {
      options.connections = parse_number<int>(name, value);
    } else if (name == "--seconds") {
      options.seconds = parse_number<double>(name, value);
    } else if (name == "--warmup-seconds") {
      options.warmup_seconds = parse_number<double>(name, value);
    } else if (name == "--requests") {
      options.requests = parse_number<std::int64_t>(name, value);
    } else {
      die("unknown option " + std::string(name));
    }
  }
  if (count % 2 == 0) die("every option has a value");
  if (options.host.empty()) die("--target is missing");
  if (options.connections < 1 || options.connections > kConnectionsMax)
    die("--connections must be 1.." + std::to_string(kConnectionsMax));
  if ((options.seconds > 0) == (options.requests > 0)) die("give one of --seconds and --requests");
  if (options.seconds + options.warmup_seconds > kRunSecondsMax)
    die("a run may take " + std::to_string(static_cast<int>(kRunSecondsMax)) + " s at most");
  return options;
}

std::string render_request(const Options& options, const std::string& body) {
  std::string text = options.method + " " + options.path + " HTTP/1.1\r\nHost: " + options.host;
  for (const std::string& header : options.headers) text += "\r\n" + header;
  if (!body.empty() || options.method != "GET")
    text += "\r\nContent-Length: " + std::to_string(body.size());
  return text + "\r\n\r\n" + body;
}

std::vector<std::size_t> counter_places(std::string_view request) {
  std::vector<std::size_t> places;
  for (auto at = request.find(kCounter); at != std::string_view::npos;
       at = request.find(kCounter, at + kCounter.size()))
    places.push_back(at);
  return places;
}

bool equal_ignoring_case(std::string_view a, std::string_view b) {
  return a.size() == b.size() && ::strncasecmp(a.data(), b.data(), a.size()) == 0;
}

struct Answer {
  int status = 0;
  std::size_t bytes = 0;  // head and body
};

/// The first whole answer in `text`, if it is all there.
std::optional<Answer> find_answer(std::string_view text) {
  const auto end = text.find("\r\n\r\n");
  if (end == std::string_view::npos) return std::nullopt;
  if (end < 12 || !text.starts_with("HTTP/1.")) die("the server does not speak HTTP/1.1");
  Answer answer{parse_number<int>("status", text.substr(9, 3)), 0};
  std::optional<std::size_t> length;
  for (std::size_t at = text.find("\r\n"); at < end;) {
    const std::size_t next = text.find("\r\n", at + 2);
    const std::string_view line = text.substr(at + 2, next - at - 2);
    const auto colon = line.find(':');
    if (colon != std::string_view::npos &&
        equal_ignoring_case(line.substr(0, colon), "content-length")) {
      std::string_view value = line.substr(colon + 1);
      value.remove_prefix(std::min(value.find_first_not_of(' '), value.size()));
      length = parse_number<std::size_t>("Content-Length", value);
    }
    at = next;
  }
  if (!length && answer.status != 204 && answer.status != 304)
    die("an answer without Content-Length (status " + std::to_string(answer.status) + ")");
  answer.bytes = end + 4 + length.value_or(0);
  if (answer.bytes > kAnswerBytesMax) die("an answer is too large");
  if (text.size() < answer.bytes) return std::nullopt;
  return answer;
}

/// One connection: it writes the request, reads the answer, and begins again.
class Connection {
 public:
  Connection(const Options& options, std::string request, int poll)
      : options_(options),
        request_(std::move(request)),
        counter_places_(counter_places(request_)),
        poll_(poll) {
    open();
  }
  ~Connection() {
    if (socket_ >= 0) ::close(socket_);
  }
  Connection(const Connection&) = delete;
  Connection& operator=(const Connection&) = delete;

  void begin(std::int64_t number) {
    const std::string digits = std::to_string(kCounterFirst + number);
    for (const std::size_t at : counter_places_) request_.replace(at, digits.size(), digits);
    sent_ = 0;
    received_.clear();
    begun_ = Clock::now();
    write_more();
  }

  /// True when an answer came or the connection broke; `status` is then its status, 0 if it broke.
  bool on_event(std::uint32_t events, int& status) {
    if ((events & EPOLLOUT) != 0 && sent_ < request_.size()) write_more();
    char buffer[64 << 10];
    while (true) {
      const ssize_t count = ::read(socket_, buffer, sizeof buffer);
      if (count < 0 && (errno == EAGAIN || errno == EINTR)) return false;
      if (count <= 0) {
        status = 0;
        reopen();
        return true;
      }
      received_.append(buffer, static_cast<std::size_t>(count));
      if (const auto answer = find_answer(received_)) {
        status = answer->status;
        return true;
      }
    }
  }

  Clock::time_point begun() const { return begun_; }

 private:
  void open() {
    socket_ = ::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (socket_ < 0) die_errno("socket");
    const auto* address = reinterpret_cast<const sockaddr*>(&options_.target);
    if (::connect(socket_, address, sizeof options_.target) != 0) die_errno("connect");
    const int on = 1;
    ::setsockopt(socket_, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on);
    ::fcntl(socket_, F_SETFL, O_NONBLOCK);
    epoll_event event{};
    event.events = EPOLLIN | EPOLLOUT | EPOLLET;
    event.data.ptr = this;
    if (::epoll_ctl(poll_, EPOLL_CTL_ADD, socket_, &event) != 0) die_errno("epoll_ctl");
  }

  void reopen() {
    ::close(socket_);
    open();
  }

  void write_more() {
    while (sent_ < request_.size()) {
      const ssize_t count =
          ::send(socket_, request_.data() + sent_, request_.size() - sent_, MSG_NOSIGNAL);
      if (count <= 0) return;  // full: EPOLLOUT comes; broken: the next read says so
      sent_ += static_cast<std::size_t>(count);
    }
  }

  const Options& options_;
  std::string request_;
  const std::vector<std::size_t> counter_places_;
  const int poll_;
  int socket_ = -1;
  std::size_t sent_ = 0;
  std::string received_;
  Clock::time_point begun_;
};

double seconds_between(Clock::time_point from, Clock::time_point to) {
  return std::chrono::duration<double>(to - from).count();
}

void start_counting(Totals& totals) {
  totals.counting_from = totals.last_answer = Clock::now();
  totals.cpu_s_before = own_cpu_s();
}

/// Counts one answer. Those that began in the warm-up do not count.
void count_answer(Totals& totals, const Connection& connection, int status) {
  const Clock::time_point now = Clock::now();
  if (connection.begun() < totals.counting_from) return;
  totals.last_answer = now;
  totals.latencies_us.push_back(static_cast<float>(seconds_between(connection.begun(), now) * 1e6));
  if (status < 200 || status > 299) {
    ++totals.errors;
    totals.last_bad_status = status;
  }
}

std::vector<std::unique_ptr<Connection>> open_connections(const Options& options, int poll) {
  std::vector<std::unique_ptr<Connection>> connections;
  const std::size_t bodies = options.bodies.size();
  for (int i = 0; i < options.connections; ++i) {
    const std::string body =
        bodies == 0 ? "" : options.bodies[static_cast<std::size_t>(i) % bodies];
    connections.push_back(
        std::make_unique<Connection>(options, render_request(options, body), poll));
  }
  return connections;
}

Totals run(const Options& options) {
  const int poll = ::epoll_create1(EPOLL_CLOEXEC);
  if (poll < 0) die_errno("epoll_create1");
  const std::vector<std::unique_ptr<Connection>> connections = open_connections(options, poll);
  Totals totals;
  totals.latencies_us.reserve(1 << 20);
  const Clock::time_point begun = Clock::now();
  bool is_counting = options.warmup_seconds == 0;
  if (is_counting) start_counting(totals);
  std::int64_t to_begin = options.requests > 0 ? options.requests : INT64_MAX;
  std::int64_t open = 0, begun_before = 0;
  const auto begin_next = [&](Connection& connection) {
    if (to_begin == 0 || totals.latencies_us.size() >= kSamplesMax) return;
    connection.begin(begun_before++);
    --to_begin;
    ++open;
  };
  for (const auto& connection : connections) begin_next(*connection);

  while (open > 0) {
    epoll_event events[64];
    const int count = ::epoll_wait(poll, events, std::size(events), 100);
    if (count < 0 && errno != EINTR) die_errno("epoll_wait");
    const Clock::time_point now = Clock::now();
    if (seconds_between(begun, now) > kRunSecondsMax) die("no end in sight: stopped");
    if (!is_counting && seconds_between(begun, now) >= options.warmup_seconds) {
      is_counting = true;
      start_counting(totals);
    }
    if (options.seconds > 0 && is_counting &&
        seconds_between(totals.counting_from, now) >= options.seconds)
      break;
    for (int i = 0; i < count; ++i) {
      auto& connection = *static_cast<Connection*>(events[i].data.ptr);
      int status = 0;
      if (!connection.on_event(events[i].events, status)) continue;
      if (is_counting) count_answer(totals, connection, status);
      --open;
      begin_next(connection);
    }
  }
  ::close(poll);
  return totals;
}

double percentile(const std::vector<float>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::min(at, sorted.size() - 1)]);
}

void report(const Options& options, Totals totals) {
  std::ranges::sort(totals.latencies_us);
  const auto& sorted = totals.latencies_us;
  const auto requests = static_cast<double>(sorted.size());
  const double seconds = seconds_between(totals.counting_from, totals.last_answer);
  std::printf(
      "{\"connections\": %d, \"requests\": %.0f, \"errors\": %lld, \"last_bad_status\": %d, "
      "\"seconds\": %.4f, \"rate\": %.1f, \"p50_us\": %.1f, \"p90_us\": %.1f, \"p99_us\": %.1f, "
      "\"max_us\": %.1f, \"own_cpu_us\": %.2f}\n",
      options.connections, requests, static_cast<long long>(totals.errors), totals.last_bad_status,
      seconds, seconds > 0 ? requests / seconds : 0, percentile(sorted, 0.5),
      percentile(sorted, 0.9), percentile(sorted, 0.99), percentile(sorted, 1),
      requests > 0 ? (own_cpu_s() - totals.cpu_s_before) / requests * 1e6 : 0);
}

}  // namespace

int main(int count, char** words) {
  const Options options = parse_options(count, words);
  report(options, run(options));
}
