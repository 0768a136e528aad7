// SPDX-License-Identifier: Apache-2.0
// bench-load-grpc: bench-load's sibling for unary gRPC calls. The request's bytes are sent as they
// are, over and over, one call at a time on each of a fixed number of connections. One thread.
// Prints one line of JSON. Loopback only; ends by itself.
//
//   bench-load-grpc 127.0.0.1:PORT /package.Service/Method REQUEST-FILE CONNECTIONS SECONDS
#include <grpcpp/generic/generic_stub.h>
#include <grpcpp/grpcpp.h>
#include <sys/resource.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kSecondsMax = 120;
constexpr int kConnectionsMax = 256;
constexpr auto kCallDeadline = std::chrono::seconds(10);

[[noreturn]] void die(const std::string& message) {
  std::fprintf(stderr, "bench-load-grpc: %s\n", message.c_str());
  std::exit(2);
}

double own_cpu_s() {
  rusage usage{};
  ::getrusage(RUSAGE_SELF, &usage);
  const auto seconds = [](const timeval& t) {
    return static_cast<double>(t.tv_sec) + static_cast<double>(t.tv_usec) / 1e6;
  };
  return seconds(usage.ru_utime) + seconds(usage.ru_stime);
}

grpc::ByteBuffer read_request(const char* path) {
  std::ifstream file(path, std::ios::binary);
  if (!file) die(std::string("cannot read ") + path);
  const std::string bytes{std::istreambuf_iterator<char>(file), {}};
  const grpc::Slice slice(bytes);
  return {&slice, 1};
}

/// A connection of its own, with one call on it at a time.
struct Caller {
  Caller(const std::string& target, grpc::CompletionQueue& queue) : queue(queue) {
    grpc::ChannelArguments arguments;
    arguments.SetInt(GRPC_ARG_USE_LOCAL_SUBCHANNEL_POOL, 1);  // else all share one connection
    arguments.SetMaxReceiveMessageSize(-1);
    stub = std::make_unique<grpc::GenericStub>(
        grpc::CreateCustomChannel(target, grpc::InsecureChannelCredentials(), arguments));
  }

  void begin(const std::string& method, const grpc::ByteBuffer& request) {
    call.reset();
    context.emplace();
    context->set_deadline(std::chrono::system_clock::now() + kCallDeadline);
    // A first connect may fail by gRPC itself: it reads errno late, and abseil has set it since.
    context->set_wait_for_ready(true);
    answer.Clear();
    begun = Clock::now();
    call = stub->PrepareUnaryCall(&*context, method, request, &queue);
    call->StartCall();
    call->Finish(&answer, &status, this);
  }

  grpc::CompletionQueue& queue;
  std::unique_ptr<grpc::GenericStub> stub;
  std::optional<grpc::ClientContext> context;
  std::unique_ptr<grpc::GenericClientAsyncResponseReader> call;
  grpc::ByteBuffer answer;
  grpc::Status status;
  Clock::time_point begun;
};

double percentile(const std::vector<float>& sorted, double share) {
  if (sorted.empty()) return 0;
  const auto at = static_cast<std::size_t>(share * static_cast<double>(sorted.size()));
  return static_cast<double>(sorted[std::min(at, sorted.size() - 1)]);
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) die("arguments: 127.0.0.1:PORT METHOD REQUEST-FILE CONNECTIONS SECONDS");
  const std::string target = words[1];
  const std::string method = words[2];
  if (!target.starts_with("127.")) die("the target must be an address of 127.0.0.0/8");
  const grpc::ByteBuffer request = read_request(words[3]);
  const int connections = std::atoi(words[4]);
  const double seconds_asked = std::atof(words[5]);
  if (connections < 1 || connections > kConnectionsMax) die("CONNECTIONS must be 1..256");
  if (seconds_asked <= 0 || seconds_asked > kSecondsMax) die("SECONDS must be at most 120");

  grpc::CompletionQueue queue;
  std::vector<std::unique_ptr<Caller>> callers;
  for (int i = 0; i < connections; ++i) callers.push_back(std::make_unique<Caller>(target, queue));
  std::vector<float> latencies_us;
  latencies_us.reserve(1 << 20);
  const double cpu_before = own_cpu_s();
  const Clock::time_point begun = Clock::now();
  Clock::time_point last = begun;
  for (auto& caller : callers) caller->begin(method, request);
  for (int open = connections; open > 0;) {
    void* tag = nullptr;
    bool is_ok = false;
    if (!queue.Next(&tag, &is_ok)) break;
    auto& caller = *static_cast<Caller*>(tag);
    if (!caller.status.ok()) die("a call failed: " + caller.status.error_message());
    last = Clock::now();
    latencies_us.push_back(std::chrono::duration<float, std::micro>(last - caller.begun).count());
    if (std::chrono::duration<double>(last - begun).count() < seconds_asked)
      caller.begin(method, request);
    else
      --open;
  }
  const double seconds = std::chrono::duration<double>(last - begun).count();
  std::ranges::sort(latencies_us);
  const auto requests = static_cast<double>(latencies_us.size());
  std::printf(
      "{\"connections\": %d, \"requests\": %.0f, \"errors\": 0, \"seconds\": %.4f, \"rate\": %.1f, "
      "\"p50_us\": %.1f, \"p99_us\": %.1f, \"own_cpu_us\": %.2f}\n",
      connections, requests, seconds, requests / seconds, percentile(latencies_us, 0.5),
      percentile(latencies_us, 0.99), (own_cpu_s() - cpu_before) / requests * 1e6);
}
