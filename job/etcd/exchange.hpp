// SPDX-License-Identifier: Apache-2.0
//
// HTTP requests that never block: the owner drives them and looks at their replies, which may still grow. So one thread
// keeps a lease alive and watches keys, and waits where it wants to wait.
// Hot path: no. Threads: one owner.
#pragma once

#include "curl.hpp"

#include "../../core/time.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

namespace weft::jobs::etcd {

inline constexpr std::size_t longest_reply = std::size_t{32} << 20;  ///< In bytes: replies are not trusted.

/// One request. Its reply grows while the owner drives.
class exchange {
 public:
  exchange(const exchange&) = delete;
  exchange& operator=(const exchange&) = delete;
  ~exchange() {
    calls_->multi_remove(multi_.get(), easy_);
    calls_->easy_cleanup(easy_);
    calls_->slist_free_all(headers_);
  }

  bool is_over() const noexcept { return over_; }
  /// Why no whole reply came; empty where one came, or may still come.
  const std::string& reason() const noexcept { return reason_; }
  bool was_refused() const noexcept { return refused_; }  ///< Nothing was sent: asking again is safe.
  const std::string& reply() const noexcept { return reply_; }
  /// The first line that is whole, without its end; it leaves the reply. Streams of etcd have an object in each line.
  bool take_line(std::string& into) {
    const std::size_t end = reply_.find('\n');
    if (end == std::string::npos) return false;
    into.assign(reply_, 0, end);
    reply_.erase(0, end + 1);
    return true;
  }
  long code() const {
    long code = 0;
    calls_->easy_getinfo(easy_, CURLINFO_RESPONSE_CODE, &code);
    return code;
  }
  /// The own address of the connection.
  std::string own_address() const {
    const char* text = nullptr;
    calls_->easy_getinfo(easy_, CURLINFO_LOCAL_IP, &text);
    return text == nullptr ? "" : text;
  }

 private:
  friend class exchanges;
  exchange(const curl_calls* calls, std::shared_ptr<CURLM> multi, std::string url, std::string body)
      : calls_(calls), multi_(std::move(multi)), url_(std::move(url)), body_(std::move(body)) {}

  static std::size_t take(char* bytes, std::size_t one, std::size_t count, void* into) {
    auto& self = *static_cast<exchange*>(into);
    const std::size_t size = one * count;
    if (size > longest_reply - std::min(longest_reply, self.reply_.size())) return 0;  // libcurl ends the request
    self.reply_.append(bytes, size);
    *self.news_ = true;
    return size;
  }

  const curl_calls* calls_;
  std::shared_ptr<CURLM> multi_;
  std::string url_, body_, reply_, reason_;
  CURL* easy_ = nullptr;
  curl_slist* headers_ = nullptr;
  bool* news_ = nullptr;
  bool over_ = false;
  bool refused_ = false;
};

/// Requests that are driven together, with their connections.
class exchanges {
 public:
  /// Errors: unsupported (no libcurl), no_memory.
  static result<std::unique_ptr<exchanges>> open() {
    auto calls = curl_calls::load();
    if (!calls) return std::move(calls).error();
    CURLM* multi = (*calls)->multi_init();
    if (multi == nullptr) return {error(errc::no_memory, "etcd"), "libcurl gives no handle"};
    return std::unique_ptr<exchanges>(new exchanges(*calls, multi));
  }

  /// Starts a POST. `limit`: of the whole request; zero: none, for a stream.
  std::unique_ptr<exchange> post(std::string url, std::string body, duration limit) {
    std::unique_ptr<exchange> made(new exchange(calls_, multi_, std::move(url), std::move(body)));
    made->news_ = &news_;
    made->easy_ = calls_->easy_init();
    // "Expect: 100-continue" would cost a round trip; etcd's gateway does not want it.
    made->headers_ = calls_->slist_append(nullptr, "Expect:");
    const auto set = [&](CURLoption option, auto value) { calls_->easy_setopt(made->easy_, option, value); };
    set(CURLOPT_URL, made->url_.c_str());
    set(CURLOPT_POST, 1L);
    set(CURLOPT_POSTFIELDS, made->body_.c_str());
    set(CURLOPT_POSTFIELDSIZE, static_cast<long>(made->body_.size()));
    set(CURLOPT_HTTPHEADER, made->headers_);
    set(CURLOPT_WRITEFUNCTION, &exchange::take);
    set(CURLOPT_WRITEDATA, static_cast<void*>(made.get()));
    set(CURLOPT_PRIVATE, static_cast<void*>(made.get()));
    set(CURLOPT_NOSIGNAL, 1L);  // limits of names' look-up must not use SIGALRM
    set(CURLOPT_NOPROXY, "*");  // a proxy of the environment is for the world outside
    set(CURLOPT_CONNECTTIMEOUT_MS, milliseconds(limit == duration() ? longest_connect : limit));
    if (limit != duration()) set(CURLOPT_TIMEOUT_MS, milliseconds(limit));
    calls_->multi_add(multi_.get(), made->easy_);
    return made;
  }

  /// Makes progress. Returns at once when something came, else after `at_most`.
  void drive(duration at_most) {
    news_ = false;
    perform();
    if (news_ || at_most <= duration()) return;
    calls_->multi_poll(multi_.get(), nullptr, 0, static_cast<int>(milliseconds(at_most)), nullptr);
    perform();
  }

 private:
  static constexpr duration longest_connect = std::chrono::seconds(2);

  exchanges(const curl_calls* calls, CURLM* multi) : calls_(calls), multi_(multi, calls->multi_cleanup) {}

  /// At least 1: libcurl takes 0 for no limit.
  static long milliseconds(duration limit) {
    return static_cast<long>(
        std::clamp<long long>(std::chrono::ceil<std::chrono::milliseconds>(limit).count(), 1, 86'400'000));
  }
  void perform() {
    int left = 0;
    calls_->multi_perform(multi_.get(), &left);
    while (const CURLMsg* each = calls_->multi_info_read(multi_.get(), &left)) {
      if (each->msg != CURLMSG_DONE) continue;
      void* held = nullptr;
      calls_->easy_getinfo(each->easy_handle, CURLINFO_PRIVATE, &held);
      auto& of = *static_cast<exchange*>(held);
      of.over_ = news_ = true;
      const CURLcode how = each->data.result;
      if (how == CURLE_OK) continue;
      of.refused_ = how == CURLE_COULDNT_CONNECT || how == CURLE_COULDNT_RESOLVE_HOST;
      long number = 0;
      calls_->easy_getinfo(each->easy_handle, CURLINFO_OS_ERRNO, &number);
      of.reason_ = of.refused_ && number != 0 ? std::string(::strerror(static_cast<int>(number)))  // NOLINT: per thread
                                              : std::string(calls_->easy_strerror(how));
    }
  }

  const curl_calls* calls_;
  std::shared_ptr<CURLM> multi_;
  bool news_ = false;
};

}  // namespace weft::jobs::etcd
