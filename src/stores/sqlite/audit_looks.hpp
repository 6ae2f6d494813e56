#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace holdfast::stores::sqlite {

// One thing that cannot be. The texts are SQL.
struct Fault {
  std::string when;  // over the rows of its look
  std::string what;  // how to tell it; begins with a verb where the row belongs to a task
  // Statements that mend every such row at once. `$` stands for the "from … where …" that finds
  // them. Empty: nothing can be done.
  std::string repair = {};
  enum class Kind : std::uint8_t {
    plain,
    misplaced,  // waits, but not where its row says
    nowhere,    // not to be told of one that is misplaced: that was told already
    ungrouped,  // to be given a fingerprint by the audit, which works it out
  };
  Kind kind = Kind::plain;
};

// One pass over some rows, and all that can be wrong with them. The texts but `step` are SQL.
struct Look {
  std::string step;  // for people: what is looked at
  std::string from;
  bool of_tasks = true;  // the rows have a task `t`, or nothing in its place
  std::vector<Fault> faults;
};

// In the order in which they are made: each may rely on what those before it have mended.
[[nodiscard]] const std::vector<Look>& audit_looks();
// Of what version 1 of the schema does not have.
[[nodiscard]] const Look& audit_look_since_2();
[[nodiscard]] const Look& audit_look_since_3();
[[nodiscard]] const Look& audit_look_since_4();
[[nodiscard]] const std::vector<Look>& audit_looks_since_5();

// Of audit_looks(): those at groups of failures, which come last.
[[nodiscard]] std::vector<Look> audit_looks_at_groups();

}  // namespace holdfast::stores::sqlite
