#include <array>
#include <chrono>
#include <limits>

#include "config/key_rows.hpp"
#include "config/outside_values.hpp"
#include "config/plain_values.hpp"
#include "config/text_checks.hpp"
#include "core/condition.hpp"

// The keys of what has to do with brokers alone.
namespace holdfast::config {
namespace {

using namespace std::chrono_literals;

constexpr std::array<std::pair<std::string_view, Origin>, 2> kOrigins = {
    {{"exchange", Origin::exchange}, {"queue", Origin::queue}}};

constexpr std::array<std::pair<std::string_view, Notify>, 3> kNotify = {
    {{"never", Notify::never}, {"problems", Notify::problems}, {"always", Notify::always}}};

// A text that need not be given.
struct CheckedTextOrNone {
  static constexpr std::string_view kKind = Text::kKind;
  TextCheck check;
  void read(const Spot& spot, const Value& value, std::string& into) const {
    Text{check}.read(spot, value, into);
  }
  [[nodiscard]] std::string show(const std::string& value) const {
    return value.empty() ? "" : Text{check}.show(value);
  }
};

struct NameOrNone : CheckedTextOrNone {
  NameOrNone() : CheckedTextOrNone{check_name} {}
};

// Where messages go, and which of them.
void add_recover_ways(std::vector<Row<Recover>>& rows) {
  rows.insert(
      rows.end(),
      {
          row<Recover>("from", &Recover::from, BrokerAt{BrokerPart::queue}, yes,
                       "the broker and the dead-letter queue: `amqp://user:password@host/vhost/"
                       "queue`, with the vhost `/` written `%2f`, or `sqs://region/queue`; better "
                       "`env:NAME` "
                       "or `file:PATH`",
                       {.required = true}),
          row<Recover>(
              "management", &Recover::management, Endpoint{}, yes,
              "where RabbitMQ's management API is, to be asked for the delivery limit of a "
              "quorum queue; without it, port 15672 of the broker's host, 15671 with TLS"),
          row<Recover>("delivery_limit", &Recover::delivery_limit,
                       CheckedTextOrNone{check_delivery_limit}, yes,
                       "that limit, if the API cannot be asked: a number, or `none`"),
          row<Recover>("endpoint", &Recover::endpoint, Endpoint{}, yes,
                       "where SQS is, if not at AWS"),
          row<Recover>("map", &Recover::map, Path{PathUse::file}, yes,
                       "a file that says where each type goes"),
          row<Recover>("to_origin", &Recover::to_origin, Choice<Origin>{"origin", kOrigins}, yes,
                       "back by their first death: to its `exchange` with its routing key, or into "
                       "its `queue`"),
          row<Recover>("to", &Recover::to, NameOrNone{}, yes, "all of them into this queue"),
          row<Recover>("exchange", &Recover::exchange, NameOrNone{}, yes,
                       "where routing keys of the map go that name no exchange"),
          row<Recover>(
              "filter", &Recover::filter, Texts{check_condition}, yes,
              "only messages that meet all of these: `[\"age>2h\", \"type=A or type=B\"]`"),
          row<Recover>("park", &Recover::park, NameOrNone{}, yes,
                       "a queue for what cannot be brought back; without it, that stays"),
          row<Recover>("max_recoveries", &Recover::max_recoveries, Whole{1, 1'000'000}, yes,
                       "what came back so often is kept for review"),
          row<Recover>("renew_at", &Recover::renew_at, Whole{1, 1'000'000}, yes,
                       "what stays and was handed back so often is put at the end of the queue as "
                       "a new message, since quorum queues drop what was delivered too often"),
          row<Recover>("persistent", &Recover::persistent, YesNo{}, yes,
                       "make copies persistent, also of messages that were not"),
          row<Recover>("keep_expiration", &Recover::keep_expiration, YesNo{}, yes,
                       "copies expire as their originals did; without it, they do not expire"),
      });
}

// When it runs, how fast and how long.
void add_recover_limits(std::vector<Row<Recover>>& rows) {
  constexpr int kMost = std::numeric_limits<int>::max();
  rows.insert(
      rows.end(),
      {
          row<Recover>("on_start", &Recover::on_start, YesNo{}, yes,
                       "run it when the server starts"),
          row<Recover>("every", &Recover::every, SpanOr{"never", {1s, kDay * 30}}, yes,
                       "run it so often; one that still runs is not run again"),
          row<Recover>("notify", &Recover::notify, Choice<Notify>{"notify", kNotify}, yes,
                       "of which runs the webhook of `[alerts]` is told when they end: `never`; "
                       "`problems`: of those that failed, stalled or left something; `always`"),
          row<Recover>("window", &Recover::window, Whole{1, 60'000}, yes,
                       "most messages under way at once; 1: one at a time"),
          row<Recover>("limit", &Recover::limit, Whole{0, kMost}, yes,
                       "most messages of one run; 0: no limit"),
          row<Recover>("rate", &Recover::rate, Fraction{0, 1e6}, yes,
                       "most messages a second; 0: no limit"),
          row<Recover>("total", &Recover::total, Span{1s, kDay * 30}, yes,
                       "a run ends after so long"),
          row<Recover>("idle", &Recover::idle, Span{0s, kDay}, yes,
                       "and after so long without a message"),
          row<Recover>("empty", &Recover::empty, Span{0s, kDay}, yes,
                       "and when its queue was empty for so long"),
          row<Recover>("stall", &Recover::stall, Span{1s, kDay}, yes,
                       "and when nothing got on for so long"),
          row<Recover>("journal", &Recover::journal, NewFile{}, yes,
                       "a file for each message's fate, from which a run after a crash goes on"),
          row<Recover>("ca_file", &Recover::ca_file, Path{PathUse::file}, yes,
                       "authorities to trust, of `amqps`; without it, the system's"),
          row<Recover>("cert_file", &Recover::cert_file, Path{PathUse::file}, yes,
                       "certificate by which a broker at `amqps` knows us; without a user in its "
                       "URL it also says who we are (EXTERNAL)"),
          row<Recover>("key_file", &Recover::key_file, Path{PathUse::file}, yes,
                       "its key; without it, the key is in the same file"),
      });
}

}  // namespace

Section<Broker> broker_section() {
  return {
      "broker",
      "Brokers whose dead-letter queues are shown in the dashboard and by `holdfast brokers`, "
      "and brought back from there. [recovery.md](recovery.md#in-the-dashboard-and-over-http) "
      "has the rest.",
      {
          row<Broker>("url", &Broker::url, BrokerAt{BrokerPart::host}, yes,
                      "`amqp://user:password@host:5672/vhost`, or `sqs://region`; better "
                      "`env:NAME` or `file:PATH`",
                      {.required = true}),
          row<Broker>("queues", &Broker::queues, Texts{check_name}, yes,
                      "its dead-letter queues, as patterns: `*` is any text, `?` one character; "
                      "those of queues that it carries are known without"),
          row<Broker>("management", &Broker::management, Endpoint{}, yes,
                      "where RabbitMQ's management API is; without it, port 15672 of the "
                      "broker's host, 15671 with TLS"),
          row<Broker>("ca_file", &Broker::ca_file, Path{PathUse::file}, yes,
                      "authorities to trust, of `amqps`; without it, the system's"),
          row<Broker>("endpoint", &Broker::endpoint, Endpoint{}, yes,
                      "where SQS is, if not at AWS"),
      }};
}

Section<Recover> recover_section() {
  Section<Recover> section{
      "recover",
      "Dead-letter queues of a broker that are brought back by the server. "
      "`map`, `to_origin` or `to`: exactly one of them; `on_start` or `every`, "
      "or both. [recovery.md](recovery.md) has the rest.",
      {}};
  add_recover_ways(section.rows);
  add_recover_limits(section.rows);
  return section;
}

Section<Aws> aws_section() {
  const SecretText secret{SecretText::Use::key};
  return {"aws",
          "Who asks of queues at SQS. Without these: AWS_ACCESS_KEY_ID and its like, the shared "
          "credentials file, and what a container or a machine of AWS is given, in this order.",
          {
              row<Aws>("access_key", &Aws::access_key, secret, no, "`env:NAME` or `file:PATH`"),
              row<Aws>("secret_key", &Aws::secret_key, secret, no, "signs what is asked, likewise"),
              row<Aws>("session_token", &Aws::session_token, secret, no,
                       "of credentials that expire, likewise"),
              row<Aws>("profile", &Aws::profile, NameOrNone{}, no,
                       "the profile of the shared credentials file; without it, AWS_PROFILE or "
                       "`default`"),
          }};
}

}  // namespace holdfast::config
