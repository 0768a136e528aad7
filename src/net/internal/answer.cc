// SPDX-License-Identifier: Apache-2.0
// Connection's sending half: heads and bodies of answers.
#include <fcntl.h>
#include <sys/sendfile.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <ctime>

#include "takt/base/log.h"
#include "takt/net/internal/connection.h"
#include "takt/net/internal/text.h"

namespace takt::net::internal {
namespace {

constexpr std::size_t kBlockBytes = 256 << 10;
constexpr std::int64_t kSendfileBytesMax = 8 << 20;

std::string_view reason_phrase(int status) {
  switch (status) {
    case 200:
      return "OK";
    case 201:
      return "Created";
    case 202:
      return "Accepted";
    case 204:
      return "No Content";
    case 206:
      return "Partial Content";
    case 303:
      return "See Other";
    case 304:
      return "Not Modified";
    case 400:
      return "Bad Request";
    case 401:
      return "Unauthorized";
    case 403:
      return "Forbidden";
    case 404:
      return "Not Found";
    case 405:
      return "Method Not Allowed";
    case 408:
      return "Request Timeout";
    case 409:
      return "Conflict";
    case 413:
      return "Content Too Large";
    case 414:
      return "URI Too Long";
    case 416:
      return "Range Not Satisfiable";
    case 429:
      return "Too Many Requests";
    case 431:
      return "Request Header Fields Too Large";
    case 500:
      return "Internal Server Error";
    case 501:
      return "Not Implemented";
    case 502:
      return "Bad Gateway";
    case 503:
      return "Service Unavailable";
    case 504:
      return "Gateway Timeout";
    default:
      return "Status";
  }
}

void append_number(std::string& out, std::int64_t number, int base = 10) {
  std::array<char, 24> digits;
  auto end = std::to_chars(digits.data(), digits.data() + digits.size(), number, base).ptr;
  out.append(digits.data(), end);
}

// Control characters in a value could end the header.
void append_header(std::string& out, std::string_view name, std::string_view value) {
  out.append(name).append(": ");
  for (char c : value) out.push_back(static_cast<unsigned char>(c) < 0x20 || c == 0x7f ? ' ' : c);
  out.append("\r\n");
}

bool is_framing_header(std::string_view name) {
  return equal_no_case(name, "Content-Length") || equal_no_case(name, "Transfer-Encoding") ||
         equal_no_case(name, "Connection") || equal_no_case(name, "Date");
}

// "Sun, 06 Nov 1994 08:49:37 GMT", made once a second.
std::string_view http_date(UnixMs now_ms) {
  thread_local std::int64_t second = -1;
  thread_local std::string text;
  if (now_ms / 1000 != second) {
    second = now_ms / 1000;
    std::time_t time = second;
    std::tm parts{};
    ::gmtime_r(&time, &parts);
    std::array<char, 40> buffer;
    text.assign(buffer.data(),
                std::strftime(buffer.data(), buffer.size(), "%a, %d %b %Y %H:%M:%S GMT", &parts));
  }
  return text;
}

}  // namespace

std::string Connection::render_head(const Exchange& exchange, const Response& response,
                                    bool keep_alive, std::int64_t length, bool is_chunked) {
  std::string head;
  head.reserve(384);
  head.append("HTTP/1.1 ");
  append_number(head, response.status);
  head.append(" ").append(reason_phrase(response.status)).append("\r\n");
  bool has_sniff = false;
  bool has_referrer = false;
  bool has_frame = false;
  bool has_id = false;
  for (const auto& [name, value] : response.headers.items()) {
    if (is_framing_header(name)) continue;
    has_sniff |= equal_no_case(name, "X-Content-Type-Options");
    has_referrer |= equal_no_case(name, "Referrer-Policy");
    has_frame |= equal_no_case(name, "X-Frame-Options");
    has_id |= equal_no_case(name, "X-Request-Id");
    append_header(head, name, value);
  }
  head.append("Date: ").append(http_date(core_.clock.now_ms())).append("\r\n");
  if (!has_id) append_header(head, "X-Request-Id", exchange.request.request_id);
  if (!has_sniff) head.append("X-Content-Type-Options: nosniff\r\n");
  if (!has_referrer) head.append("Referrer-Policy: same-origin\r\n");
  if (!has_frame) head.append("X-Frame-Options: DENY\r\n");
  if (is_chunked) {
    head.append("Transfer-Encoding: chunked\r\n");
  } else if (length >= 0) {
    head.append("Content-Length: ");
    append_number(head, length);
    head.append("\r\n");
  }
  if (!keep_alive) {
    head.append("Connection: close\r\n");
  } else if (exchange.parser.is_http10()) {
    head.append("Connection: keep-alive\r\n");
  }
  head.append("\r\n");
  return head;
}

Task<bool> Connection::write_answer(Exchange& exchange, Response response, bool keep_alive) {
  const auto* whole = std::get_if<std::string>(&response.body);
  auto* file = std::get_if<FileBody>(&response.body);
  std::int64_t length = response.content_length;
  if (whole != nullptr && (length < 0 || !whole->empty())) {
    length = static_cast<std::int64_t>(whole->size());
  }
  if (file != nullptr) length = file->length;
  bool has_no_body = response.status == 204 || response.status == 304 || response.status < 200;
  if (has_no_body) length = -1;
  bool is_chunked = length < 0 && !has_no_body && !exchange.parser.is_http10();
  bool ends_by_close = length < 0 && !has_no_body && !is_chunked;
  std::string head =
      render_head(exchange, response, keep_alive && !ends_by_close, length, is_chunked);
  bool is_head_only = has_no_body || exchange.request.method == Method::kHead;
  if (whole != nullptr || is_head_only) {
    co_return co_await write(head, whole != nullptr && !is_head_only ? *whole : std::string_view{});
  }
  if (!co_await write(head)) co_return false;
  bool written = false;
  if (file != nullptr) {
    written = wire_->is_tls() ? co_await write_file_tls(*file) : co_await write_file(*file);
  } else if (auto* pull = std::get_if<PullBody>(&response.body)) {
    written = co_await write_pull(*pull, length, is_chunked);
  } else {
    written = co_await write_push(std::get<PushBody>(response.body), is_chunked);
  }
  if (written && ends_by_close) {
    co_await linger();
    co_return false;
  }
  co_return written;
}

Task<bool> Connection::write(std::string_view first, std::string_view second) {
  deadline_ = core_.transfer_deadline(core_.clock.mono(),
                                      static_cast<std::int64_t>(first.size() + second.size()));
  IoResult result = co_await wire_->write(first, second);
  deadline_ = {};
  co_return !result.error;
}

template <class T>
Task<T> Connection::on_worker(std::move_only_function<T()> work) {
  co_return co_await asio::async_initiate<const UseTask, void(T)>(
      [this, &work](auto handler) {
        asio::any_completion_handler<void(T)> resume(std::move(handler));
        core_.stream_workers.add([executor = loop_->executor(), work = std::move(work),
                                  resume = std::move(resume)]() mutable {
          asio::post(executor, [resume = std::move(resume), result = work()]() mutable {
            std::move(resume)(std::move(result));
          });
        });
      },
      kUseTask);
}

Task<bool> Connection::write_file(FileBody& file) {
  // A descriptor of our own: an abort gives the socket's number away while a worker still uses it.
  const Fd to(::fcntl(wire_->descriptor(), F_DUPFD_CLOEXEC, 0));
  // On a worker: a page that is not in memory blocks.
  while (file.length > 0) {
    if (is_closed_ || !to) co_return false;
    std::move_only_function<ssize_t()> step = [to = to.get(), &file] {
      off_t offset = file.offset;
      ssize_t sent = ::sendfile(to, file.fd.get(), &offset,
                                static_cast<std::size_t>(std::min(file.length, kSendfileBytesMax)));
      return sent < 0 ? -errno : sent;
    };
    ssize_t sent = co_await on_worker(std::move(step));
    if (sent == -EAGAIN) {
      deadline_ = core_.transfer_deadline(core_.clock.mono(), 0);
      error_code error = co_await wire_->wait(Socket::wait_write);
      deadline_ = {};
      if (error) co_return false;
      continue;
    }
    if (sent <= 0) co_return false;  // the file is shorter than promised, or the client is gone
    file.offset += sent;
    file.length -= sent;
  }
  co_return true;
}

Task<bool> Connection::write_file_tls(FileBody& file) {
  PullBody pull = [&file](std::span<char> buffer) -> Result<std::size_t> {
    ssize_t got = ::pread(file.fd.get(), buffer.data(), buffer.size(), file.offset);
    if (got < 0) return fail(errno_error("reading a file for a client", errno));
    file.offset += got;
    return static_cast<std::size_t>(got);
  };
  co_return co_await write_pull(pull, file.length, false);
}

Task<bool> Connection::write_pull(PullBody& pull, std::int64_t length, bool is_chunked) {
  std::vector<char> block(kBlockBytes);
  std::string frame;
  std::int64_t left = length;
  while (is_chunked || length < 0 || left > 0) {
    std::size_t wanted = block.size();
    if (length >= 0) wanted = std::min(wanted, static_cast<std::size_t>(left));
    std::move_only_function<Result<std::size_t>()> step = [&pull, &block, wanted] {
      return pull(std::span(block).first(wanted));
    };
    Result<std::size_t> got = co_await on_worker(std::move(step));
    if (!got) {
      log_warn("response body failed", {{"error", got.error().text()}});
      co_return false;
    }
    if (*got == 0) break;
    left -= static_cast<std::int64_t>(*got);
    if (is_chunked) {
      append_number(frame, static_cast<std::int64_t>(*got), 16);
      frame.append("\r\n");
    }
    if (!co_await write(frame, {block.data(), *got})) co_return false;
    frame = is_chunked ? "\r\n" : "";
  }
  if (length >= 0) co_return left == 0;
  if (!is_chunked) co_return true;
  frame.append("0\r\n\r\n");
  co_return co_await write(frame);
}

Task<bool> Connection::write_push(PushBody& push, bool is_chunked) {
  sink_ = std::make_shared<PushSink>(loop_);
  auto sink = sink_;
  if (core_.is_draining.load()) sink->close();
  arm_watch();
  push(sink);
  push = nullptr;
  bool written = true;
  PushSink::Batch batch;
  while (written && !batch.is_end) {
    batch = co_await sink->next();
    std::string frame;
    if (!batch.bytes.empty() && is_chunked) {
      append_number(frame, static_cast<std::int64_t>(batch.bytes.size()), 16);
      frame.append("\r\n");
      batch.bytes.append("\r\n");
    }
    if (batch.is_end && !batch.is_cut && is_chunked) batch.bytes.append("0\r\n\r\n");
    if (!batch.bytes.empty()) written = co_await write(frame, batch.bytes);
  }
  sink->cut();
  sink_ = nullptr;
  co_return written && !batch.is_cut;
}

}  // namespace takt::net::internal
