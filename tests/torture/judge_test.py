#!/usr/bin/env python3
"""The judge finds what it is there for: each case plants one difference between ledgers and store."""

import os
import tempfile
import unittest

from judge import Fates, Inspection, Judgement, Ledgers, judge

RUN = "1 begin id1 1\n2 end id1 1 good\n"
DONE = "task\tid1\t1.1.1\tok\tsucceeded\t\t0\t0\tresult of 1.1.1\t1:success:5:1:host:7:uuid\n"


def judged(producer: str, handler: str, store: str, deaths: int = 1, drained: bool = False,
           fates: Fates | None = None) -> Judgement:  # fmt: skip
    with tempfile.TemporaryDirectory(prefix="holdfast-judge-") as folder:
        for name, text in (("producer1", producer), ("handler1", handler)):
            with open(os.path.join(folder, f"ledger.1.{name}"), "w", encoding="utf-8") as file:
                file.write(text)
        return judge(Ledgers.read(folder), Inspection.parse(store), deaths, drained, fates)


class Judge(unittest.TestCase):
    submit = "1 submit 1.1.1 ok key\n"
    accept = submit + "2 accepted 1.1.1 id1\n"

    def test_is_content_with_a_task_that_was_done(self) -> None:
        self.assertEqual(judged(self.accept, RUN, DONE, drained=True).all(), [])

    def test_is_content_with_a_submission_that_was_never_answered(self) -> None:
        self.assertEqual(judged(self.submit, "", "").all(), [])
        self.assertEqual(judged(self.submit, RUN, DONE).all(), [])

    def test_reads_no_half_lines(self) -> None:
        self.assertEqual(judged(self.submit + "2 accepted 1.1.1 id", "", "").all(), [])

    def test_finds_a_lost_task(self) -> None:
        self.assertIn("gone", judged(self.accept, "", "").lost[0])
        self.assertIn("gone", judged(self.submit, RUN, "").lost[0])

    def test_finds_a_success_that_was_taken_back(self) -> None:
        running = "task\tid1\t1.1.1\tok\trunning\t\t0\t0\t\t\n"
        seen = self.accept + "3 seen id1 succeeded\n"
        self.assertIn("was seen succeeded", judged(seen, RUN, running).lost[0])

    def test_finds_an_invented_task(self) -> None:
        self.assertIn("submitted 0 times", judged("", RUN, DONE).invented[0])
        twice = DONE + DONE.replace("id1", "id2")
        both = RUN + RUN.replace("id1", "id2")
        self.assertIn("is there 2 times", judged(self.accept, both, twice).invented[0])

    def test_finds_a_success_that_nobody_had(self) -> None:
        self.assertIn("never ended well", judged(self.accept, "1 begin id1 1\n", DONE).invented[0])

    def test_finds_one_token_run_twice(self) -> None:
        self.assertIn("one token", judged(self.accept, RUN + RUN, DONE).wrong[0])

    def test_finds_a_begun_attempt_that_was_handed_back_for_nothing(self) -> None:  # N7
        back = "task\tid1\t1.1.1\tok\tpending\t\t0\t0\t\t1:hand_back:5:1:host:7:uuid\n"
        self.assertIn("hand_back", judged(self.accept, "1 begin id1 1\n", back).wrong[0])
        self.assertEqual(judged(self.accept, RUN, back).all(), [])

    def test_finds_crashes_of_what_had_not_begun(self) -> None:  # N7
        store = "".join(f"task\tid{n}\t1.1.{n}\tok\tretrying\t\t0\t1\t\t1:crash:5:1:host:7:uuid\n" for n in range(5))
        submits = "".join(f"1 submit 1.1.{n} ok -\n" for n in range(5))
        self.assertIn("5 crashes", judged(submits, "", store, deaths=1).wrong[0])

    # Two processes, 7 and 8, on one store: 7 has claimed the task at 1 s, and 8 takes it.
    def shared(self, handlers: str, taken_us: int, fates: Fates) -> list[str]:
        store = ("task\tid1\t1.1.1\tok\tsucceeded\t\t0\t1\tresult of 1.1.1\t"
                 f"1:crash:{taken_us}:1000000:host:7:uuid 2:success:9000000:8000000:host:8:uuid\n")  # fmt: skip
        return judged(self.accept, handlers, store, fates=fates).all()

    first = "1000000000 begin id1 1\n"
    second = "8000000000 begin id1 2\n8500000000 end id1 2 good\n"

    def test_lets_a_claim_be_taken_from_the_dead(self) -> None:
        dead = Fates(30_000_000, 0, {7: 4_000_000})
        self.assertEqual(self.shared(self.first + self.second, 7_000_000, dead), [])

    def test_finds_a_claim_that_was_taken_from_the_living(self) -> None:
        alive = Fates(30_000_000, 0)
        self.assertIn("which lived", self.shared(self.first + self.second, 7_000_000, alive)[0])
        later = Fates(30_000_000, 0, {7: 9_500_000})
        self.assertIn("which lived", self.shared(self.first + self.second, 7_000_000, later)[0])

    def test_lets_a_claim_be_taken_from_one_that_was_cut_off_for_long(self) -> None:
        for since, found in ((4_900_000, 0), (5_100_000, 1)):
            fates = Fates(30_000_000, 0, cut_off=[(8, 1, 9_000_000), (7, since, 9_000_000)])
            self.assertEqual(len(self.shared(self.first + self.second, 7_000_000, fates)), found)

    def test_lets_a_claim_be_taken_when_its_lease_has_ended(self) -> None:
        out = Fates(5_000_000, 0, outages=[(1_500_000, 6_500_000)])
        self.assertEqual(self.shared(self.first + self.second, 7_000_000, out), [])
        untold = Fates(5_000_000, 0)
        self.assertEqual(self.shared(self.second, 7_000_000, untold), [])
        self.assertIn("which lived", self.shared(self.first + self.second, 7_000_000, untold)[0])

    def test_finds_an_attempt_beside_another(self) -> None:
        store = DONE.replace("1:success:5:1:host:7:uuid",
                             "1:error:5:1:host:7:uuid 2:success:9:6:host:8:uuid")  # fmt: skip
        store = store.replace("\t0\t0\t", "\t1\t0\t")
        handlers = "1 begin id1 1\n9 end id1 1 bad\n5 begin id1 2\n8 end id1 2 good\n"
        found = judged(self.accept, handlers, store, fates=Fates(30_000_000, 0)).wrong
        self.assertIn("while 1 was under way", found[0])
        dead = Fates(30_000_000, 0, {7: 4_000_000})
        self.assertIn("before 1 was taken", self.shared(self.first + self.second, 8_100_000, dead)[0])

    def test_finds_a_success_after_a_corrupt_store(self) -> None:
        late = "1 submit a ok -\n2 refused a corrupt\n3 submit 1.1.1 ok -\n4 accepted 1.1.1 id1\n"
        self.assertIn("corrupt", judged(late, RUN, DONE).wrong[0])

    def test_finds_a_wrong_end(self) -> None:
        bad = DONE.replace("\tok\t", "\tbad\t")
        submits = self.accept.replace(" ok ", " bad ")
        self.assertIn("ended as succeeded", judged(submits, RUN, bad, drained=True).wrong[0])


if __name__ == "__main__":
    unittest.main()
