// docs/configuration.md against the keys: its tables are what keys.cpp says, every key is shown in
// an example, and every example is good.
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <string>
#include <string_view>
#include <vector>

#include <gtest/gtest.h>

#include "config/config.hpp"
#include "config/keys.hpp"

namespace holdfast::config::configuration_page_test {
namespace {

constexpr const char* kPage = HOLDFAST_SOURCE_DIR "/docs/configuration.md";
constexpr const char* kExample = HOLDFAST_SOURCE_DIR "/examples/server/holdfast.toml";

// A world in which everything is there that an example may name.
class RichOutside final : public Outside {
 public:
  std::optional<std::string> variable(const std::string& name) override {
    if (name.find("STORE") != std::string::npos) return "rediss://u:secret@example.org/1";
    if (name.find("URL") != std::string::npos) return "https://example.org/" + name;
    return "a-good-secret-of-" + name;
  }
  Result<std::string> secret_file(const std::string& path) override {
    return "a-good-secret-of-" + path;
  }
  Result<void> check_path(const std::string& /*path*/, PathUse /*use*/) override { return {}; }
  Result<std::vector<Rule>> rules(const std::string& /*path*/) override {
    return std::vector<Rule>();
  }
};

std::string text_of(const char* path) {
  std::ifstream in(path, std::ios::binary);
  EXPECT_TRUE(in) << "cannot read " << path;
  return {std::istreambuf_iterator<char>(in), {}};
}

std::string row_of(const KeyInfo& key) {
  std::string given = key.default_text.empty() ? "none" : "`" + key.default_text + "`";
  if (key.required) given = "required";
  std::string meaning(key.meaning);
  if (key.only) meaning = (*key.only == RunBy::command ? "*command:* " : "*webhook:* ") + meaning;
  return "| `" + std::string(key.name) + "` | " + std::string(key.kind) + " | " + given + " | " +
         meaning + " | " + (key.reload == Reload::yes ? "yes" : "no") + " |\n";
}

std::string heading_of(const TableInfo& table) {
  return "## [" + table.name + "]\n";
}

// What stands below the heading of a table.
std::string block_of(const TableInfo& table) {
  std::string block = "\n" + std::string(table.meaning) +
                      "\n\n| key | type | default | meaning | reload |\n|---|---|---|---|---|\n";
  for (const KeyInfo& key : table.keys)
    block += row_of(key);
  return block;
}

// From the heading of a table to the next heading; empty: it has none.
std::string chapter_of(const std::string& page, const TableInfo& table) {
  const std::size_t begin = page.find("\n" + heading_of(table));
  if (begin == std::string::npos) return "";
  const std::size_t body = begin + 1 + heading_of(table).size();
  return page.substr(body, page.find("\n## ", body) - body);
}

std::string with_new_blocks(std::string page) {
  for (const TableInfo& table : tables()) {
    const std::string chapter = chapter_of(page, table);
    if (chapter.empty()) continue;
    const std::size_t end = chapter.rfind("|\n");
    const std::size_t begin = page.find(heading_of(table)) + heading_of(table).size();
    page.replace(begin, end == std::string::npos ? 0 : end + 2, block_of(table));
  }
  return page;
}

std::vector<std::string> toml_blocks(const std::string& text) {
  std::vector<std::string> blocks;
  constexpr std::string_view kOpen = "```toml\n";
  for (std::size_t at = text.find(kOpen); at != std::string::npos; at = text.find(kOpen, at)) {
    at += kOpen.size();
    blocks.push_back(text.substr(at, text.find("```", at) - at));
  }
  return blocks;
}

bool shows(const std::string& example, std::string_view key) {
  const std::string name(key.substr(key.rfind('.') + 1));
  for (std::size_t at = example.find(name); at != std::string::npos;
       at = example.find(name, at + 1)) {
    const bool begins = at == 0 || example[at - 1] == '\n' || example[at - 1] == ' ';
    const std::size_t after = example.find_first_not_of(' ', at + name.size());
    if (begins && after != std::string::npos && example[after] == '=') return true;
  }
  return false;
}

TEST(ConfigurationPage, has_the_tables_of_the_keys) {
  std::string page = text_of(kPage);
  if (std::getenv("HOLDFAST_REGENERATE")) {
    page = with_new_blocks(page);
    std::ofstream out(kPage, std::ios::binary);
    out << page;
    ASSERT_TRUE(out.flush()) << "cannot write " << kPage;
  }
  for (const TableInfo& table : tables()) {
    const std::string chapter = chapter_of(page, table);
    EXPECT_EQ(chapter.substr(0, chapter.rfind("|\n") + 2), block_of(table))
        << "docs/configuration.md is stale at " << heading_of(table)
        << "To write its tables anew:\n  HOLDFAST_REGENERATE=1 build/dev/config_test "
           "--gtest_filter='ConfigurationPage.*'";
  }
}

TEST(ConfigurationPage, has_no_table_that_the_keys_do_not_have) {
  std::string page = text_of(kPage);
  for (const TableInfo& table : tables()) {
    const std::size_t at = page.find(heading_of(table));
    ASSERT_NE(at, std::string::npos) << table.name;
    page.erase(at, heading_of(table).size());
  }
  EXPECT_EQ(page.find("\n## ["), std::string::npos);
}

TEST(ConfigurationPage, shows_every_key_in_an_example) {
  const std::string page = text_of(kPage);
  for (const TableInfo& table : tables()) {
    std::string examples;
    const std::string chapter = chapter_of(page, table);
    for (const std::string& block : toml_blocks(chapter))
      examples += block;
    for (const KeyInfo& key : table.keys)
      EXPECT_TRUE(shows(examples, key.name)) << table.name << " " << key.name;
  }
}

TEST(ConfigurationPage, has_good_examples) {
  RichOutside outside;
  const std::string page = text_of(kPage);
  const std::vector<std::string> blocks = toml_blocks(page);
  EXPECT_GT(blocks.size(), tables().size());
  for (const std::string& block : blocks) {
    const auto config = check(block, "/etc/holdfast/holdfast.toml", outside);
    EXPECT_TRUE(config) << to_error(config.error()).message << "\nin\n" << block;
  }
}

TEST(ConfigurationPage, the_example_of_a_server_is_good) {
  RichOutside outside;
  const auto config = check(text_of(kExample), kExample, outside);
  ASSERT_TRUE(config) << to_error(config.error()).message;
  EXPECT_FALSE(config->tasks.empty());
}

TEST(Keys, a_default_is_within_its_own_limits) {
  RichOutside outside;
  for (const TableInfo& table : tables()) {
    for (const KeyInfo& key : table.keys) {
      if (key.default_text.empty()) continue;
      std::string text =
          "[" + table.name + "]\n" + std::string(key.name) + " = " + key.default_text + "\n";
      if (table.name.starts_with("route.")) {
        const bool is_field = table.name.ends_with("FIELD");
        text = "[task.t]\npull = true\n[route.'POST /r']\ntask = 't'\n";
        if (is_field) text += "[route.'POST /r'.body.f]\ntype = 'string'\n";
        text += std::string(key.name) + " = " + key.default_text + "\n";
      }
      if (table.name == "task.NAME" && key.name != "pull") {
        text += key.only == RunBy::command   ? "command = ['cat']\n"
                : key.only == RunBy::webhook ? "webhook = 'http://a'\n"
                                             : "pull = true\n";
      }
      if (table.name == "task.NAME" && key.name == "pull") text += "command = ['cat']\n";
      if (table.name == "queue.NAME")
        text += key.carried == CarriedBy::sqs ? "broker = 'sqs://r/a'\n" : "broker = 'amqp://a'\n";
      if (key.name.starts_with("input."))
        text += "input.s3 = 'http://a'\ninput.bucket = 'b'\ninput.key = 'k'\n";
      if (table.name == "broker.NAME") text += "url = 'amqp://h'\n";
      if (table.name == "recover.NAME") {
        text += "from = 'amqp://h/%2f/q'\nto = 'x'\n";
        text += key.name == "on_start" ? "every = '1h'\n" : "on_start = true\n";
      }
      const auto config = check(text, "/etc/holdfast/holdfast.toml", outside);
      EXPECT_TRUE(config) << to_error(config.error()).message << "\nin\n" << text;
    }
  }
}

}  // namespace
}  // namespace holdfast::config::configuration_page_test
