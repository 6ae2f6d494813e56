#include "stores/sqlite/reader.hpp"

#include "stores/sqlite/audit.hpp"

namespace holdfast::stores::sqlite {

using ports::Asked;
using ports::Audit;
using ports::Request;

namespace {

std::unexpected<Error> refusal() {
  return fail(ErrorCode::invalid_argument, "store", "a reader was asked to change something");
}

}  // namespace

Reader::Reader(Database database)
    : database_(std::move(database)), names_(database_), queries_(database_, names_) {}

void Reader::carry_out(std::span<Request> batch) {
  const auto answer = [&]<class Verb>(Asked<Verb>& asked) {
    if constexpr (std::is_same_v<Verb, Audit>) {
      asked.answer = audit(database_, {});
    } else if constexpr (requires { queries_.answer(asked.verb); }) {
      asked.answer = queries_.answer(asked.verb);
    } else {
      asked.answer = refusal();
    }
  };
  for (Request& request : batch) {
    if (!ports::is_query(request)) {
      std::visit([](auto& asked) { asked.answer = refusal(); }, request);
      continue;
    }
    try {
      database_.execute("begin");  // one view of everything for one verb
      std::visit(answer, request);
      database_.execute("rollback");  // a commit would refuse a file that was found damaged
    } catch (const SqlError& error) {
      if (database_.in_transaction()) database_.execute("rollback");
      std::visit(
          [&](auto& asked) {
            asked.answer = std::unexpected(error.error("store " + database_.path()));
          },
          request);
    }
  }
}

}  // namespace holdfast::stores::sqlite
