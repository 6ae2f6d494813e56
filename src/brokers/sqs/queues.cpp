#include "brokers/sqs/queues.hpp"

#include <memory>
#include <utility>

#include <fmt/format.h>

#include "brokers/sqs/json.hpp"
#include "core/json_text.hpp"
#include "wire/json_writer.hpp"

namespace holdfast::brokers::sqs {
namespace {

std::string json_text(std::string_view text) {
  std::string out;
  append_json_string(out, text);
  return out;
}

}  // namespace

void Queues::call(Ask ask, Api::Then then) {
  const std::string queue = ask.queue;
  if (const auto known = urls_.find(queue); known != urls_.end())
    return call_at(std::string(known->second), std::move(ask), false, std::move(then));
  url_of(queue, [this, ask = std::move(ask), then = std::move(then)](const Url& url) mutable {
    if (!url) return then(std::unexpected(url.error()));
    call_at(*url, std::move(ask), true, std::move(then));
  });
}

void Queues::call_at(const std::string& url, Ask ask, bool is_fresh, Api::Then then) {
  Request request{
      .operation = ask.operation,
      .body = fmt::format("{{\"QueueUrl\":{}{}{}}}", json_text(url), ask.members.empty() ? "" : ",",
                          ask.members),
      .timeout = ask.timeout > Duration::zero() ? ask.timeout : api_.options().request_timeout,
      .is_tried_again = ask.is_tried_again};
  api_.call(std::move(request),
            [this, is_fresh, ask = std::move(ask), then = std::move(then)](Answer answer) mutable {
              const bool is_gone = !answer && answer.error().kind == Trouble::Kind::no_queue;
              if (is_gone) urls_.erase(ask.queue);
              // It may have another URL by now.
              if (is_gone && !is_fresh) return call(std::move(ask), std::move(then));
              then(std::move(answer));
            });
}

void Queues::find(const std::string& queue,
                  std::move_only_function<void(std::expected<void, Trouble>)> then) {
  url_of(queue, [then = std::move(then)](const Url& url) mutable {
    if (!url) return then(std::unexpected(url.error()));
    then({});
  });
}

void Queues::url_of(const std::string& queue, UrlThen then) {
  std::vector<UrlThen>& waiting = looked_up_[queue];
  waiting.push_back(std::move(then));
  if (waiting.size() > 1) return;
  const auto tell = [this, queue](const Url& url) {
    if (url) urls_[queue] = *url;
    auto told = looked_up_.extract(queue);
    for (UrlThen& one : told.mapped())
      one(url);
  };
  if (!is_queue_name(queue)) {
    api_.loop().post([tell, queue] {
      tell(std::unexpected(Trouble{
          .kind = Trouble::Kind::no_queue,
          .message = quoted(queue) + " cannot be the name of a queue: letters, digits, - and _"}));
    });
    return;
  }
  api_.call({.operation = "GetQueueUrl",
             .body = fmt::format("{{\"QueueName\":{}}}", json_text(queue)),
             .timeout = api_.options().request_timeout},
            [tell, queue](const Answer& answer) {
              if (!answer) {
                Trouble trouble = answer.error();
                if (trouble.kind == Trouble::Kind::no_queue)
                  trouble.message = fmt::format("there is no queue {}", quoted(queue));
                return tell(std::unexpected(std::move(trouble)));
              }
              std::string url = Json(*answer).text_of("QueueUrl");
              if (url.empty())
                return tell(std::unexpected(Trouble{.message = "an answer without a QueueUrl"}));
              tell(std::move(url));
            });
}

}  // namespace holdfast::brokers::sqs
