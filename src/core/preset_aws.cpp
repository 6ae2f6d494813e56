// Error codes of AWS, and of what speaks its protocols (MinIO, LocalStack, ElasticMQ). AWS answers
// throttling with HTTP 400 as often as with 429, so these come before the rules of http().
#include <holdfast/classify.hpp>

#include "core/preset_patterns.hpp"

namespace holdfast::presets {

std::vector<Rule> aws() {
  using enum VerdictKind;
  return {
      {.name = "aws.throttled",
       .pattern = one_of(
           {codes({"Throttl(?:ing|ed)(?:Exception|Error)", "RequestThrottled(?:Exception)?",
                   "TooManyRequests(?:Exception)?", "ProvisionedThroughputExceeded(?:Exception)?",
                   "RequestLimitExceeded", "BandwidthLimitExceeded", "LimitExceededException",
                   "SlowDown", "PriorRequestNotComplete", "EC2ThrottledException"}),
            R"((?-i:[("'>:]\s?Throttling\b))", R"(\brate exceeded\b)", "reduce your request rate"}),
       .verdict = throttle,
       .reason = "AWS asks for fewer requests."},
      {.name = "aws.credentials",
       .pattern =
           one_of({codes({"ExpiredToken(?:Exception)?", "AccessDenied(?:Exception)?",
                          "UnauthorizedOperation", "AuthFailure", "InvalidClientTokenId",
                          "UnrecognizedClientException", "SignatureDoesNotMatch",
                          "InvalidAccessKeyId", "InvalidSignatureException",
                          "MissingAuthenticationToken(?:Exception)?", "IncompleteSignature",
                          "OptInRequired", "NotAuthorized(?:Exception)?", "RequestTimeTooSkewed"}),
                   "is not authorized to perform: ", "unable to locate credentials"}),
       .verdict = give_up,
       .reason = "The credentials do not allow it."},
      {.name = "aws.not-found",
       .pattern =
           codes({"NoSuchBucket", "NoSuchKey", "NoSuchUpload", "NoSuchEntity", "NoSuchVersion",
                  "ResourceNotFoundException", "QueueDoesNotExist", "NonExistentQueue"}),
       .verdict = give_up,
       .reason = "What the request names does not exist."},
      {.name = "aws.invalid-request",
       .pattern =
           codes({"ValidationException", "ValidationError",
                  "InvalidParameter(?:Value|Combination)?(?:Exception)?", "MissingParameter",
                  "MalformedQueryString", "MalformedXML", "MalformedPolicyDocument(?:Exception)?",
                  "InvalidAction", "InvalidArgument", "SerializationException", "InvalidBucketName",
                  "EntityTooLarge", "InvalidMessageContents", "ReceiptHandleIsInvalid",
                  "BatchRequestTooLong", "ConditionalCheckFailed(?:Exception)?"}),
       .verdict = give_up,
       .reason = "AWS refuses the request as it stands."},
      {.name = "aws.unavailable",
       .pattern = codes({"InternalFailure", "InternalError", "InternalServerError",
                         "InternalServiceError", "ServiceUnavailable(?:Exception)?",
                         "ServiceFailure", "RequestTimeout(?:Exception)?", "OperationAborted",
                         "TransactionConflict(?:Exception)?", "TransactionInProgressException",
                         "IDPCommunicationError", "ReplicatedWriteConflictException"}),
       .verdict = retry,
       .reason = "AWS could not serve the request this time."},
  };
}

}  // namespace holdfast::presets
