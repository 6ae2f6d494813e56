#include <gtest/gtest.h>

#include <holdfast/classify.hpp>

#include "core/preset_rows.hpp"

namespace holdfast::preset_ethereum_test {
namespace {

using enum VerdictKind;

// C1.1
TEST(EthereumPreset, C1_1_insufficient_funds) {
  const char* rule = "ethereum.insufficient-funds";
  expect_rows({
      {"insufficient funds for gas", give_up, rule},
      {"insufficient funds for gas * price + value: address "
       "0x71C7656EC7ab88b098defB751B7401B5f6d8976F "
       "have 1000 want 21000000000000",
       give_up, rule},
      {R"(processing response error (body="{\"error\":{\"code\":-32000,\"message\":\"insufficient )"
       R"(funds for transfer\"}}", code=SERVER_ERROR))",
       give_up, rule},
      {"[ethjs-query] while formatting outputs from RPC: INSUFFICIENT_FUNDS", give_up, rule},
      {"InsufficientFunds, Account balance: 0, cumulative cost: 21000", give_up, rule},
      {"Upfront cost exceeds account balance (transaction up-front cost 0x5208)", give_up, rule},
      {"sender doesn't have enough funds to send tx. The max upfront cost is: 30", give_up, rule},
  });
}

// C1.2
TEST(EthereumPreset, C1_2_gas) {
  expect_rows({
      {"gas required exceeds allowance (30000000)", give_up, "ethereum.gas"},
      {"err: intrinsic gas too low: have 20000, want 21000 (supplied gas 20000)", give_up,
       "ethereum.gas"},
      {"out of gas", give_up, "ethereum.gas"},
      {"VM error: OutOfGas", give_up, "ethereum.gas"},
      {"exceeds block gas limit", give_up, "ethereum.gas"},
      {"max priority fee per gas higher than max fee per gas: address 0xab, maxPriorityFeePerGas: "
       "2",
       give_up, "ethereum.fee"},
      {"tx fee (1.52 ether) exceeds the configured cap (1.00 ether)", give_up, "ethereum.fee"},
  });
}

// C1.3: the source gives up; a spent nonce may be our own success, so that has to be asked for.
TEST(EthereumPreset, C1_3_a_used_nonce_is_ambiguous_by_default) {
  expect_rows({
      {"nonce too low", ambiguous, "ethereum.nonce-used"},
      {"nonce too low: address 0x71C7, tx: 3 state: 5", ambiguous, "ethereum.nonce-used"},
      {"Nonce too low. Expected nonce to be 5 but got 3.", ambiguous, "ethereum.nonce-used"},
      {"nonce already used", ambiguous, "ethereum.nonce-used"},
      {"nonce has already been used (transaction=\"0x02f8\", code=NONCE_EXPIRED)", ambiguous,
       "ethereum.nonce-used"},
      {"OldNonce, Current nonce: 5, nonce of rejected tx: 3", ambiguous, "ethereum.nonce-used"},
      {"nonce too high: address 0x71C7, tx: 9 state: 5", retry, "ethereum.nonce-gap"},
  });
}

// C1.3, as the source has it.
TEST(EthereumPreset, C1_3_a_used_nonce_gives_up_where_asked) {
  const Classifier strict =
      Classifier::make(presets::ethereum({.used_nonce = VerdictKind::give_up})).value();
  EXPECT_EQ(strict({"nonce too low"}).kind, give_up);
  EXPECT_EQ(strict({"nonce already used"}).kind, give_up);
  EXPECT_EQ(strict({"replacement transaction underpriced"}).kind, ambiguous);
}

// C1.4
TEST(EthereumPreset, C1_4_reverts) {
  expect_rows({
      {"execution reverted", give_up, "ethereum.reverted"},
      {"execution reverted: Ownable: caller is not the owner", give_up, "ethereum.reverted"},
      {"transaction would revert", give_up, "ethereum.reverted"},
      {"VM Exception while processing transaction: reverted with reason string 'paused'", give_up,
       "ethereum.reverted"},
      {"cannot estimate gas; transaction may fail (code=UNPREDICTABLE_GAS_LIMIT)", give_up,
       "ethereum.reverted"},
      {"Transaction has been reverted by the EVM:", give_up, "ethereum.reverted"},
  });
}

TEST(EthereumPreset, an_underpriced_replacement_is_not_an_underpriced_transaction) {
  expect_rows({
      {"replacement transaction underpriced", ambiguous, "ethereum.replacement-underpriced"},
      {"transaction underpriced", retry, "ethereum.underpriced"},
      {"transaction underpriced: tip needed 1000000000, tip permitted 1", retry,
       "ethereum.underpriced"},
      {"max fee per gas less than block base fee: address 0xab, maxFeePerGas: 1 baseFee: 7", retry,
       "ethereum.underpriced"},
  });
}

TEST(EthereumPreset, a_transaction_that_the_node_has_is_a_success) {
  const char* rule = "ethereum.already-known";
  expect_rows({
      {"already known", success, rule},
      {"Returned error: already known", success, rule},
      {R"({"jsonrpc":"2.0","id":1,"error":{"code":-32000,"message":"already known"}})", success,
       rule},
      {"known transaction: 4f7b53c11b2b0ab2c5ee3a1f6b2e0d6c", success, rule},
      {"AlreadyKnown", success, rule},
  });
}

TEST(EthereumPreset, only_that_is_a_success) {
  for (const char* text : {
           "unknown transaction: 4f7b53c11b2b0ab2c5ee3a1f6b2e0d6c",
           "the peer is already known to be down",
           "host: already known_hosts entry for 10.0.0.1 differs",
           "tx 1: already known; tx 2: insufficient funds for gas",
           "user already exists",
       }) {
    EXPECT_NE(all_presets()({text}).kind, success) << text;
  }
}

TEST(EthereumPreset, ethereum_in_passing) {
  expect_rows({
      {"Transaction was not mined within 750 seconds, please make sure your transaction was "
       "properly "
       "sent.",
       ambiguous, "ethereum.not-mined-in-time"},
      {"Timed out while waiting for transaction with hash \"0x4ca7ee65\" to be confirmed.",
       ambiguous, "ethereum.not-mined-in-time"},
      {"daily request count exceeded, request rate limited", throttle, "ethereum.rate-limited"},
      {"Your app has exceeded its compute units per second capacity.", throttle,
       "ethereum.rate-limited"},
      {"header not found", retry, "ethereum.node-behind"},
      {"txpool is full", retry, "ethereum.node-behind"},
      {"invalid sender", give_up, "ethereum.invalid-transaction"},
      {"the method eth_sendBundle does not exist/is not available", give_up,
       "ethereum.invalid-request"},
  });
}

}  // namespace
}  // namespace holdfast::preset_ethereum_test
