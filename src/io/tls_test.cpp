#include "io/tls.hpp"

#include <fstream>

#include <gmock/gmock.h>

#include "io/tls_testing.hpp"
#include "support/temporary_folder.hpp"

namespace holdfast::io::tls_test {
namespace {

using ::testing::HasSubstr;
using testing::TestCertificate;

class TlsFilesOf : public ::testing::Test {
 protected:
  TlsFilesOf() {
    ours.save_certificate(path("ours.pem"));
    ours.save_key(path("ours.key"));
    other.save_key(path("other.key"));
    std::ofstream(path("text")) << "no PEM";
  }

  [[nodiscard]] std::string path(const std::string& name) const {
    return (folder.path() / name).string();
  }
  [[nodiscard]] Result<void> check(const std::string& certificate, const std::string& key) const {
    return check_tls_files({.certificate = path(certificate), .key = key.empty() ? "" : path(key)});
  }
  [[nodiscard]] std::string trouble(const std::string& certificate, const std::string& key) const {
    const auto checked = check(certificate, key);
    EXPECT_FALSE(checked) << certificate << ' ' << key;
    EXPECT_EQ(checked ? ErrorCode::internal : checked.error().code, ErrorCode::invalid_argument);
    return checked ? "" : checked.error().message;
  }

  testing::TemporaryFolder folder;
  TestCertificate authority = TestCertificate::authority("an authority");
  TestCertificate ours = TestCertificate::server("DNS:client", authority);
  TestCertificate other = TestCertificate::server("DNS:other", authority);
};

TEST_F(TlsFilesOf, a_client_belong_together) {
  EXPECT_TRUE(check("ours.pem", "ours.key"));
  std::ofstream both(path("both.pem"));
  both << std::ifstream(path("ours.pem")).rdbuf() << std::ifstream(path("ours.key")).rdbuf();
  both.close();
  EXPECT_TRUE(check("both.pem", ""));
}

TEST_F(TlsFilesOf, a_client_are_named_when_they_cannot_be_used) {
  EXPECT_THAT(trouble("none.pem", "ours.key"), HasSubstr("cannot read the client certificate " +
                                                         path("none.pem") + ": No such file"));
  EXPECT_THAT(trouble("ours.pem", "none.key"),
              HasSubstr("cannot read the client key " + path("none.key")));
  EXPECT_THAT(trouble("text", "ours.key"),
              HasSubstr("no client certificate in PEM is in " + path("text")));
  EXPECT_THAT(trouble("ours.pem", "text"), HasSubstr("no client key in PEM"));
  EXPECT_THAT(trouble("ours.pem", ""), HasSubstr("no client key in PEM"));
  EXPECT_THAT(trouble("ours.pem", "other.key"),
              HasSubstr("the client key " + path("other.key") + " is not that of the certificate " +
                        path("ours.pem")));
  const auto authorities = check_tls_files({.authorities = path("none.pem")});
  ASSERT_FALSE(authorities);
  EXPECT_THAT(authorities.error().message, HasSubstr(path("none.pem")));
  EXPECT_FALSE(check_tls_files({.key = path("ours.key")}));
}

}  // namespace
}  // namespace holdfast::io::tls_test
