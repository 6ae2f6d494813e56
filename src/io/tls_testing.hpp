#pragma once

#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include <openssl/evp.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace holdfast::testing {

struct FreeTls {
  void operator()(EVP_PKEY* key) const { EVP_PKEY_free(key); }
  void operator()(X509* certificate) const { X509_free(certificate); }
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(X509_EXTENSION* extension) const { X509_EXTENSION_free(extension); }
};

// A key and a certificate for it, made for one test: by itself an authority, or issued by one.
class TestCertificate {
 public:
  static TestCertificate authority(const std::string& name) {
    return {name, "CA:TRUE", "", nullptr};
  }
  // `names` as openssl writes them: "IP:127.0.0.1,DNS:localhost".
  static TestCertificate server(const std::string& names, const TestCertificate& issuer) {
    return {"a server", "CA:FALSE", names, &issuer};
  }

  void save_certificate(const std::string& path) const {
    const auto file = open(path);
    PEM_write_X509(file.get(), certificate_.get());
  }
  void save_key(const std::string& path) const {
    const auto file = open(path);
    PEM_write_PrivateKey(file.get(), key_.get(), nullptr, nullptr, 0, nullptr, nullptr);
  }

  // To serve with.
  [[nodiscard]] std::unique_ptr<SSL_CTX, FreeTls> context() const {
    std::unique_ptr<SSL_CTX, FreeTls> context(SSL_CTX_new(TLS_server_method()));
    SSL_CTX_use_certificate(context.get(), certificate_.get());
    SSL_CTX_use_PrivateKey(context.get(), key_.get());
    return context;
  }

 private:
  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };

  TestCertificate(const std::string& name, const char* basic, const std::string& names,
                  const TestCertificate* issuer)
      : key_(EVP_EC_gen("P-256")), certificate_(X509_new()) {
    X509* const made = certificate_.get();
    X509_set_version(made, 2);
    ASN1_INTEGER_set(X509_get_serialNumber(made), issuer ? 2 : 1);
    X509_gmtime_adj(X509_getm_notBefore(made), -3600);
    X509_gmtime_adj(X509_getm_notAfter(made), 24L * 3600);
    X509_set_pubkey(made, key_.get());
    X509_NAME_add_entry_by_txt(X509_get_subject_name(made), "CN", MBSTRING_ASC,
                               reinterpret_cast<const unsigned char*>(name.c_str()), -1, -1, 0);
    X509* const by = issuer ? issuer->certificate_.get() : made;
    X509_set_issuer_name(made, X509_get_subject_name(by));
    add(NID_basic_constraints, basic);
    if (!names.empty()) add(NID_subject_alt_name, names.c_str());
    X509_sign(made, issuer ? issuer->key_.get() : key_.get(), EVP_sha256());
  }

  void add(int kind, const char* value) {
    const std::unique_ptr<X509_EXTENSION, FreeTls> extension(
        X509V3_EXT_conf_nid(nullptr, nullptr, kind, value));
    X509_add_ext(certificate_.get(), extension.get(), -1);
  }

  static std::unique_ptr<std::FILE, Close> open(const std::string& path) {
    std::unique_ptr<std::FILE, Close> file(std::fopen(path.c_str(), "w"));
    if (!file) throw std::runtime_error("cannot write " + path);
    return file;
  }

  std::unique_ptr<EVP_PKEY, FreeTls> key_;
  std::unique_ptr<X509, FreeTls> certificate_;
};

}  // namespace holdfast::testing
