// Connections, names, TLS and timeouts, in the words of libc, curl, Go, Java, Node and Python. What
// gives up comes first: "SSLError(… certificate verify failed)" also says "Max retries exceeded".
#include <cerrno>

#include <holdfast/classify.hpp>

#include "core/preset_patterns.hpp"

namespace holdfast::presets {
namespace {

using enum VerdictKind;

std::vector<Rule> network_give_up_rules() {
  return {
      {.name = "network.certificate",
       .pattern = one_of(
           {R"(\bcertificate[ _]verif(?:y|ication)[ _]failed\b)",
            R"(\bself[- ]signed certificate\b)", R"(\bcertificate has expired\b)",
            R"(\bunable to (?:get local issuer|verify the first) certificate\b)", R"(\bx509: )",
            R"(\bSSL certificate problem\b)", R"(\bPKIX path (?:building|validation) failed\b)",
            codes({"CERT_HAS_EXPIRED", "DEPTH_ZERO_SELF_SIGNED_CERT", "SELF_SIGNED_CERT_IN_CHAIN",
                   "UNABLE_TO_VERIFY_LEAF_SIGNATURE", "ERR_TLS_CERT_ALTNAME_INVALID"}),
            R"(\bno subject alternative (?:DNS )?names? (?:matching|present)\b)",
            R"(\bdoes not match certificate's altnames\b)",
            R"(\bno alternative certificate subject name\b)"}),
       .verdict = give_up,
       .reason = "The other side's certificate is not trusted."},
      {.name = "network.bad-url",
       .pattern =
           one_of({R"(\bunsupported protocol scheme\b)", R"(\bno host in (?:request )?URL\b)",
                   R"(\binvalid URL\b)", R"(\bURL using bad/illegal format\b)",
                   R"(\bURL rejected\b)", R"(\bERR_INVALID_URL\b)",
                   R"(\bprotocol "[^"]*" not supported\b)", R"(\bno scheme supplied\b)"}),
       .verdict = give_up,
       .reason = "The address is not a valid one."},
      {.name = "network.redirects",
       .pattern = one_of({R"(\btoo many redirects\b)", R"(\bexceeded \d+ redirects\b)",
                          R"(\bstopped after \d+ redirects\b)",
                          R"(\bmaximum \(\d+\) redirects followed\b)"}),
       .verdict = give_up,
       .reason = "The redirects go round in circles."},
      // Not every text with the word is about time that ran out.
      {.name = "network.bad-timeout-setting",
       .pattern = one_of(
           {R"(\b(?:invalid|illegal|unsupported|negative) (?:value for )?(?:\w+[ _-])?timeout\b)",
            R"(\btimeout\w*['"]? (?:(?:parameter|option|setting|value) )?(?:must|should|has to) be\b)"}),
       .verdict = give_up,
       .reason = "A timeout is configured wrongly."},
  };
}

std::vector<Rule> network_retry_rules() {
  return {
      {.name = "network.timeout",
       .pattern = one_of(
           {R"(\btimed[ -]?out\b)",
            R"(\btime-?out (?:was )?(?:exceeded|expired|reached|awaiting|waiting|while|after)\b)",
            R"(\btimeout of \d+ ?ms\b)", R"((?:^|: )time-?out[.!]?$)",
            R"(\b(?:connect|connection|socket|handshake|network|gateway|server|rpc)[ _-]?time-?out\b)",
            R"(\b(?:read|write|i/o|request|response|headers?|body|idle)[ _-]?time-?out\b)",
            R"(\b(?:operation|query|execution)[ _-]?time-?out\b)", R"(\bE(?:SOCKET)?TIMEDOUT\b)",
            R"(\bUND_ERR_\w+_TIMEOUT\b)", R"(\bdeadline exceeded\b)",
            R"((?-i:Timeout(?:Error|Exception)\b|(?:Read|Connect)Timeout\b))",
            R"(\btook too long\b)"}),
       .verdict = retry,
       .reason = "The other side did not answer in time."},
      {.name = "network.refused",
       .pattern = one_of({R"(\bECONNREFUSED\b)", R"(\bconnection refused\b)",
                          R"(\bactively refused\b)", R"(\bfailed to connect to\b)",
                          R"(\bcouldn't connect to\b)", R"(\bcould not connect\b)"}),
       .verdict = retry,
       .reason = "Nobody listens there at the moment."},
      {.name = "network.connection-lost",
       .pattern =
           one_of({R"(\bECONN(?:RESET|ABORTED)\b)",
                   R"(\bconnection (?:was )?(?:reset|aborted|closed|terminated|lost|dropped)\b)",
                   R"(\bforcibly closed\b)",
                   R"(\bsocket hang up\b)",
                   R"(\bEPIPE\b)",
                   R"(\bbroken pipe\b)",
                   R"(\bEOF\b)",
                   R"(\bremote end closed\b)",
                   R"(\b(?:server|remote) ?disconnected\b)",
                   R"(\bpremature(?:ly)? close)",
                   R"(\bother side closed\b)",
                   R"(\bempty reply from server\b)",
                   R"(\bfailed to respond\b)",
                   R"(\bGOAWAY\b)",
                   R"(\bRST_STREAM\b)",
                   R"(\bstream (?:was )?reset\b)",
                   R"(\bfetch failed\b)",
                   R"(\bUND_ERR_SOCKET\b)",
                   R"(\bconnection error\b)",
                   R"(\brecv failure\b)",
                   R"(\bsend failure\b)"}),
       .verdict = retry,
       .reason = "The connection broke."},
      {.name = "network.name-not-resolved",
       .pattern = one_of({R"(\bEAI_AGAIN\b)", R"(\bENOTFOUND\b)", R"(\bno such host\b)",
                          R"(\bname or service not known\b)", R"(\bname resolution\b)",
                          R"(\bcould not resolve\b)", R"(\bnodename nor servname\b)",
                          R"(\bUnknownHostException\b)", R"(\bname does not resolve\b)",
                          R"(\bNXDOMAIN\b)", R"(\bSERVFAIL\b)"}),
       .verdict = retry,
       .reason = "The name could not be looked up."},
      {.name = "network.unreachable",
       .pattern = one_of({R"(\bE(?:HOST|NET)(?:UNREACH|DOWN)\b)",
                          R"(\b(?:network|host) is (?:unreachable|down)\b)",
                          R"(\bnetwork (?:unreachable|error|changed)\b)", R"(\bno route to host\b)",
                          R"(\bEADDRNOTAVAIL\b)", R"(\bcannot assign requested address\b)"}),
       .verdict = retry,
       .reason = "The network does not lead there at the moment."},
      {.name = "network.tls-handshake",
       .pattern =
           one_of({R"(\b(?:TLS|SSL) handshake\b)", R"(\bhandshake fail(?:ed|ure)\b)",
                   R"(\bSSL_ERROR_SYSCALL\b)", R"(\bSSL connection (?:has been closed|error)\b)"}),
       .verdict = retry,
       .reason = "The TLS handshake was cut short."},
      {.name = "network.local-limit",
       .pattern = one_of({R"(\bEMFILE\b)", R"(\bENFILE\b)", R"(\btoo many open files\b)",
                          R"(\bresource temporarily unavailable\b)", R"(\bENOBUFS\b)",
                          R"(\bno buffer space available\b)"}),
       .verdict = retry,
       .reason = "This machine is out of sockets or files for now."},
      {.name = "network.os-error",
       .os_errors = {ETIMEDOUT, ECONNREFUSED, ECONNRESET, ECONNABORTED, EPIPE, EHOSTUNREACH,
                     EHOSTDOWN, ENETUNREACH, ENETDOWN, ENETRESET, EADDRNOTAVAIL, EAGAIN, EINTR,
                     ENOBUFS, EMFILE, ENFILE},
       .verdict = retry,
       .reason = "The operating system reports a broken or busy connection."},
      {.name = "network.out-of-time",
       .kind = FailureKind::timeout,
       .verdict = retry,
       .reason = "The attempt ran out of time."},
  };
}

}  // namespace

std::vector<Rule> network() {
  return combine({network_give_up_rules(), network_retry_rules()});
}

}  // namespace holdfast::presets
