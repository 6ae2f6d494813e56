// The strongest of these tests: random stories, told to the store and to a model of it. Whatever is
// asked, both must answer the same.
#include <rapidcheck.h>

#include "conformance/store_conformance.hpp"
#include "conformance/story.hpp"

template <>
struct rc::Arbitrary<holdfast::conformance::Step> {
  static Gen<holdfast::conformance::Step> arbitrary() {
    using holdfast::conformance::Step;
    const auto below = [](std::uint32_t limit) {  // each as likely in short stories as in long ones
      return gen::resize(kNominalSize, gen::inRange<std::uint32_t>(0, limit));
    };
    return gen::build<Step>(gen::set(&Step::kind, below(33)), gen::set(&Step::which, below(10'000)),
                            gen::set(&Step::how, below(10'000)), gen::set(&Step::time, below(9)));
  }
};

namespace holdfast::conformance {
namespace {

// Steps of these kinds ask nothing; the rest is Story's.
constexpr std::uint32_t kCompareAll = 31;
constexpr std::uint32_t kReopen = 32;

// Batches of up to this many verbs: they begin at random, so most are shorter.
constexpr std::size_t kMostVerbs = 6;

// So many that it takes seconds, on a disk that syncs. RC_PARAMS="max_success=1000" for more.
constexpr int kStories = 20;
constexpr int kMostSteps = 200;

std::string text_of_batch(const std::vector<ports::Request>& batch) {
  std::string text;
  for (const auto& request : batch)
    text += text_of_answer(request);
  return text;
}

void expect_same(const std::string& told, const std::string& right) {
  if (told == right) return;
  RC_FAIL("the store answers\n" + told + "\nand the model\n" + right);
}

// A store and its model, side by side.
class SideBySide {
 public:
  explicit SideBySide(const StoreKind& kind)
      : place_(kind.new_place()), store_(place_().value()), is_durable_(kind.is_durable) {}

  void tell(const Step& step) {
    if (step.kind == kCompareAll) {
      carry_out();
      compare_all();
    } else if (step.kind == kReopen) {
      carry_out();
      reopen();
    } else {
      batch_.push_back(story_.next(step));
      if (batch_.size() == kMostVerbs || step.how % 3 != 0) carry_out();
    }
  }

  void end() {
    carry_out();
    compare_all();
    reopen();
    compare_all();
  }

 private:
  void carry_out() {
    std::vector<ports::Request> told = std::exchange(batch_, {});
    std::vector<ports::Request> right = told;
    store_.writer->carry_out(told);
    model_.carry_out(right);
    expect_same(text_of_batch(told), text_of_batch(right));
  }

  void compare_all() {
    expect_same(text_of_everything(store_.reader ? *store_.reader : *store_.writer),
                text_of_everything(model_));
  }

  void reopen() {
    if (!is_durable_) return;
    store_ = {};
    store_ = place_().value();
  }

  StoreKind::Place place_;
  ports::OpenStore store_;
  stores::MemoryStore model_;
  Story story_{model_};
  std::vector<ports::Request> batch_;
  const bool is_durable_;
};

TEST_P(StoreConformance, random_stories_end_as_in_the_model) {
  rc::detail::TestParams params = rc::detail::configuration().testParams;
  if (params.maxSuccess == rc::detail::TestParams().maxSuccess) params.maxSuccess = kStories;
  const auto result = rc::detail::checkTestable(
      [&] {
        const auto steps = *rc::gen::resize(kMostSteps, rc::gen::arbitrary<std::vector<Step>>());
        SideBySide stores(GetParam());
        for (const Step& step : steps)
          stores.tell(step);
        stores.end();
      },
      rc::detail::TestMetadata{"conformance", "random stories"}, params);
  if (result.is<rc::detail::SuccessResult>()) return;
  std::ostringstream text;
  rc::detail::printResultMessage(result, text);
  FAIL() << text.str();
}

}  // namespace
}  // namespace holdfast::conformance
