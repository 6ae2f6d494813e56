// Errors of Ethereum nodes (geth, erigon, nethermind, besu, hardhat) and of the wallets and clients
// in front of them (ethers, web3, viem). Sources: what the nodes answer to eth_sendRawTransaction,
// eth_call and eth_estimateGas.
//
// A wrong "success" loses a transaction, a wrong "retry" costs one more call: the patterns of
// success are the tightest and come last.
#include <holdfast/classify.hpp>

#include "core/preset_patterns.hpp"

namespace holdfast::presets {
namespace {

using enum VerdictKind;

// C1.1, C1.2, C1.4: the chain's state or the transaction itself is in the way.
std::vector<Rule> ethereum_give_up_rules() {
  return {
      {.name = "ethereum.insufficient-funds",
       .pattern =
           one_of({"insufficient[ _]?funds", "insufficient balance for transfer",
                   "upfront[ _]cost[ _]exceeds[ _](?:account[ _])?balance",
                   "doesn't have enough funds to send", "exceeds the balance of the account"}),
       .verdict = give_up,
       .reason = "The account cannot pay for the transaction."},
      {.name = "ethereum.gas",
       .pattern =
           one_of({"gas required exceeds allowance", R"(\bintrinsic gas (?:is )?too low)",
                   "intrinsic gas exceeds gas limit", R"(\bout[ _]?of[ _]?gas\b)",
                   "exceeds (?:the )?block gas limit", R"(\bgas limit (?:is )?too (?:low|high)\b)",
                   R"(\bgas uint64 overflow\b)"}),
       .verdict = give_up,
       .reason = "The gas limit cannot carry the transaction."},
      {.name = "ethereum.fee",
       .pattern = one_of({R"(\bmax priority fee per gas higher than max fee per gas\b)",
                          R"(\btx fee \([^)]*\) exceeds the configured cap\b)"}),
       .verdict = give_up,
       .reason = "The node refuses the fees that the transaction offers."},
      {.name = "ethereum.reverted",
       .pattern =
           one_of({R"(\bexecution reverted\b)", "transaction would revert", R"(\breverted with \b)",
                   R"(\btransaction reverted\b)", "reverted by the EVM",
                   R"(\bVM Exception while processing\b)",
                   "(?-i:CALL_EXCEPTION|UNPREDICTABLE_GAS_LIMIT)", "always failing transaction",
                   R"(\binvalid opcode\b)", R"(\binvalid jump destination\b)"}),
       .verdict = give_up,
       .reason = "The contract refuses the call, and will refuse it again."},
      {.name = "ethereum.invalid-transaction",
       .pattern = one_of({R"(\binvalid (?:sender|transaction v, r, s values|chain ?id)\b)",
                          R"(\btransaction type not supported\b)", R"(\boversized data\b)",
                          R"(\brlp: )", R"(only replay-protected \(EIP-155\) transactions)",
                          R"(\bmax initcode size exceeded\b)"}),
       .verdict = give_up,
       .reason = "The transaction is malformed or signed for another chain."},
      {.name = "ethereum.invalid-request",
       .pattern =
           one_of({R"(\bmethod \S+ (?:does not exist|is not available|not found|not supported))",
                   R"(\binvalid argument \d+: )", R"(-32601\b)", R"(-32602\b)"}),
       .verdict = give_up,
       .reason = "The node does not understand the request."},
  };
}

// Trap 9: the transaction may be on its way, or mined, in spite of the error.
std::vector<Rule> ethereum_ambiguous_rules(EthereumOptions options) {
  return {
      {.name = "ethereum.nonce-used",
       .pattern = one_of({R"(\bnonce[ _](?:is )?too[ _]low\b)",
                          R"(\bnonce (?:has )?already (?:been )?used\b)",
                          R"(\bnonce below current\b)", R"((?-i:\bOldNonce\b|NONCE_EXPIRED))"}),
       .verdict = options.used_nonce,
       .reason = "The nonce is spent; the transaction that spent it may be ours."},
      // Before ethereum.underpriced, whose text it contains.
      {.name = "ethereum.replacement-underpriced",
       .pattern = one_of({R"(\breplacement transaction underpriced\b)",
                          "(?-i:REPLACEMENT_UNDERPRICED)", "replacement fee too low",
                          R"(\btransaction gas price supplied is too low; there is another)"}),
       .verdict = ambiguous,
       .reason = "A transaction with this nonce is pending, and it may be ours."},
      {.name = "ethereum.not-mined-in-time",
       .pattern = one_of({R"(\bnot mined within \d+)", "timed out while waiting for transaction",
                          "waiting for (?:the )?(?:transaction )?receipt",
                          R"(\bin the chain after \d+ seconds\b)"}),
       .verdict = ambiguous,
       .reason = "The transaction was sent and may yet be mined."},
  };
}

std::vector<Rule> ethereum_retry_rules() {
  return {
      {.name = "ethereum.rate-limited",
       .pattern =
           one_of({R"(\bcompute units per second\b)", R"(\brequest rate (?:limited|exceeded)\b)",
                   R"(\bdaily request count exceeded\b)", R"(-32005\b)"}),
       .verdict = throttle,
       .reason = "The node's provider asks for fewer requests."},
      {.name = "ethereum.underpriced",
       .pattern = one_of({R"(\btransaction (?:is )?underpriced\b)",
                          R"(\bmax fee per gas less than block base fee\b)",
                          R"(\bfee cap less than block base fee\b)", R"((?-i:\bFeeTooLow))"}),
       .verdict = retry,
       .reason = "The fee is too low for now; fees fall, or the next attempt offers more."},
      {.name = "ethereum.nonce-gap",
       .pattern = one_of({R"(\bnonce too (?:high|distant|far)\b)",
                          R"((?-i:\bNonceGap\b|\bNONCE_TOO_DISTANT\b))"}),
       .verdict = retry,
       .reason = "Earlier transactions of the account are still missing."},
      {.name = "ethereum.node-behind",
       .pattern =
           one_of({R"(\bheader not found\b)", R"(\bmissing trie node\b)", R"(\bunknown block\b)",
                   R"(\bnode is (?:not )?sync(?:ed|ing)\b)", R"(\btxpool is full\b)",
                   R"(\btransaction pool is full\b)", R"(\bexecution aborted \(timeout)"}),
       .verdict = retry,
       .reason = "The node is behind or busy."},
  };
}

std::vector<Rule> ethereum_success_rules() {
  return {
      {.name = "ethereum.already-known",
       .pattern = one_of({R"((?:^|[:"'=]\s?)already known\s*(?:$|["',.;)}\]]))",
                          R"(\bknown transaction: (?:0x)?[0-9a-f]{6})", R"((?-i:\bAlreadyKnown\b))",
                          R"(\btransaction with the same hash was already imported\b)"}),
       .verdict = success,
       .reason = "The node has this very transaction already."},
  };
}

}  // namespace

std::vector<Rule> ethereum(EthereumOptions options) {
  return combine({ethereum_give_up_rules(), ethereum_ambiguous_rules(options),
                  ethereum_retry_rules(), ethereum_success_rules()});
}

}  // namespace holdfast::presets
