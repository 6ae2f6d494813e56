// The classifier's cost for each error: as shipped, with a thousand rules more (C5.2), and as it
// would be with std::regex tried rule by rule.
#include <cstdint>
#include <regex>
#include <string>
#include <string_view>
#include <vector>

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <holdfast/classify.hpp>

namespace holdfast {
namespace {

// 60 to 200 bytes each; one in four is known to no rule.
constexpr std::string_view kTexts[] = {
    "insufficient funds for gas * price + value: address "
    "0x71C7656EC7ab88b098defB751B7401B5f6d8976F "
    "have 1000000 want 21000000000000",
    "execution reverted: ERC20: transfer amount exceeds balance (data=0x08c379a0, code=-32000)",
    "Error: connect ECONNREFUSED 127.0.0.1:5672 at TCPConnectWrap.afterConnect [as oncomplete] "
    "(node:net:1595:16)",
    "HTTPSConnectionPool(host='api.example.com', port=443): Read timed out. (read timeout=30)",
    "An error occurred (ThrottlingException) when calling the PutItem operation (reached max "
    "retries: "
    "4): Rate exceeded",
    "ERROR: duplicate key value violates unique constraint \"users_email_key\" (SQLSTATE 23505)",
    "Request failed with status code 503 for POST https://billing.internal.example.com/v1/invoices",
    "ERROR: deadlock detected DETAIL: Process 4711 waits for ShareLock on transaction 991; blocked "
    "by "
    "process 4712.",
    "Get \"https://api.example.com/v2/orders/8841\": dial tcp 10.4.17.201:443: i/o timeout",
    "TypeError: Cannot read properties of undefined (reading 'amount') at settle "
    "(/app/ledger.js:88:31)",
    "java.lang.IllegalStateException: ledger 9f3b7c51 is in phase CLOSING and takes no more "
    "entries",
    "handler exited without an answer after 3 of 7 steps; the last message was 'rows written: "
    "18231'",
};

// No two errors of a real system are quite alike: each text many times over, with other digits. Not
// so many that they leave the cache, since a real error has just been written when it is
// classified.
std::vector<std::string> varied_texts() {
  std::vector<std::string> texts;
  std::uint32_t seed = 1;
  for (int i = 0; i < 50; ++i) {
    for (const std::string_view text : kTexts) {
      std::string& varied = texts.emplace_back(text);
      for (char& c : varied) {
        if (c < '0' || c > '9') continue;
        seed = seed * 1664525 + 1013904223;
        c = static_cast<char>('0' + (seed >> 16) % 10);
      }
    }
  }
  return texts;
}

template <class Texts, class Classify>
void run(benchmark::State& state, const Texts& texts, const Classify& classify) {
  // The compiled pass is completed as it meets texts. What is measured is a program that has run
  // for a while, not its first second.
  for (const auto& text : texts)
    benchmark::DoNotOptimize(classify(text));
  std::size_t next = 0;
  for (auto _ : state) {
    benchmark::DoNotOptimize(classify(texts[next]));
    next = next + 1 == std::size(texts) ? 0 : next + 1;
  }
  state.SetItemsProcessed(state.iterations());
}

void run_rules(benchmark::State& state, std::vector<Rule> rules) {
  const Classifier classifier = Classifier::make(std::move(rules)).value();
  const std::vector<std::string> texts = varied_texts();
  // The automaton is built as it meets texts; what is measured is a classifier that has met some.
  for (const std::string& text : texts)
    benchmark::DoNotOptimize(classifier.classify({text}));
  run(state, texts, [&](std::string_view text) { return classifier.classify({text}); });
}

// Twenty rules with patterns, as a user may have.
std::vector<Rule> twenty_rules() {
  std::vector<Rule> rules;
  for (const Rule& rule : presets::all()) {
    if (!rule.pattern.empty() && rules.size() < 20) rules.push_back(rule);
  }
  return rules;
}

std::vector<Rule> thousand_rules() {
  constexpr std::string_view kThings[] = {"ledger", "invoice", "shipment", "customer", "voucher"};
  constexpr std::string_view kFaults[] = {"is closed", "was cancelled", "not permitted",
                                          "is frozen"};
  std::vector<Rule> rules;
  for (int i = 0; i < 1000; ++i) {
    rules.push_back({.name = fmt::format("mine.{}", i),
                     .pattern = fmt::format(R"(\b{}[ -]{:03} {}\b|\bE{:04}\b)", kThings[i % 5], i,
                                            kFaults[i % 4], 2000 + i),
                     .verdict = VerdictKind::give_up});
  }
  return rules;
}

void all_presets(benchmark::State& state) {
  run_rules(state, presets::all());
}

void all_presets_and_1000_rules(benchmark::State& state) {
  run_rules(state, combine({thousand_rules(), presets::all()}));
}

void rules_20(benchmark::State& state) {
  run_rules(state, twenty_rules());
}

void rules_1020(benchmark::State& state) {
  run_rules(state, combine({twenty_rules(), thousand_rules()}));
}

void by_status(benchmark::State& state) {
  const Classifier classifier = Classifier::make(presets::http()).value();
  for (auto _ : state) {
    benchmark::DoNotOptimize(classifier.classify({.message = kTexts[6], .http_status = 503}));
  }
  state.SetItemsProcessed(state.iterations());
}

// The same rules with the same texts. std::regex has no inline flags; what cannot be said in its
// syntax is dropped, in its favour.
void std_regex_one_by_one(benchmark::State& state) {
  std::vector<std::regex> patterns;
  for (const Rule& rule : presets::all()) {
    std::string pattern = rule.pattern;
    for (std::size_t at; (at = pattern.find("(?-i:")) != std::string::npos;) {
      pattern.replace(at, 5, "(?:");
    }
    if (!pattern.empty()) patterns.emplace_back(pattern, std::regex::icase | std::regex::optimize);
  }
  run(state, kTexts, [&](std::string_view text) {
    for (std::size_t i = 0; i < patterns.size(); ++i) {
      if (std::regex_search(text.begin(), text.end(), patterns[i])) return static_cast<int>(i);
    }
    return -1;
  });
}

BENCHMARK(all_presets)->Name("Classify/all_presets");
BENCHMARK(all_presets_and_1000_rules)->Name("Classify/all_presets_and_1000_rules");
BENCHMARK(rules_20)->Name("Classify/20_rules");
BENCHMARK(rules_1020)->Name("Classify/1020_rules");
BENCHMARK(by_status)->Name("Classify/by_status");
BENCHMARK(std_regex_one_by_one)->Name("Classify/std_regex_one_by_one")->MinTime(0.2);

}  // namespace
}  // namespace holdfast
