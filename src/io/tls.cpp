#include "io/tls.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdio>
#include <system_error>

#include <arpa/inet.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

namespace holdfast::io {
namespace {

struct Free {
  void operator()(SSL_CTX* context) const { SSL_CTX_free(context); }
  void operator()(SSL* ssl) const { SSL_free(ssl); }
  void operator()(std::FILE* file) const { std::fclose(file); }
};

// The oldest of what OpenSSL has noted, which is the cause of the rest.
std::string reason() {
  const auto code = ERR_get_error();
  ERR_clear_error();
  const char* const text = code ? ERR_reason_error_string(code) : nullptr;
  return text ? text : "the connection was ended";
}

std::unexpected<Error> wrong(const Peer& peer, const std::string& what) {
  return fail(ErrorCode::unavailable, "connect to " + peer.name, what);
}

bool is_address(const std::string& host) {
  unsigned char bytes[sizeof(in6_addr)];
  return inet_pton(AF_INET, host.c_str(), bytes) == 1 ||
         inet_pton(AF_INET6, host.c_str(), bytes) == 1;
}

bool expect_host(SSL* ssl, const std::string& host) {
  if (is_address(host))
    return X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), host.c_str()) == 1;
  return SSL_set1_host(ssl, host.c_str()) == 1 && SSL_set_tlsext_host_name(ssl, host.c_str()) == 1;
}

std::unexpected<Error> bad_file(const std::string& what) {
  return fail(ErrorCode::invalid_argument, "read TLS files", what);
}

Result<void> check_readable(const std::string& what, const std::string& path) {
  const std::unique_ptr<std::FILE, Free> file(std::fopen(path.c_str(), "re"));
  if (file) return {};
  return bad_file("cannot read the " + what + " " + path + ": " +
                  std::generic_category().message(errno));
}

// Nobody is there to be asked for one.
int no_password(char* /*buffer*/, int /*size*/, int /*writing*/, void* /*data*/) {
  return 0;
}

Result<void> use_own(SSL_CTX* context, const TlsFiles& files) {
  const std::string& key = files.key.empty() ? files.certificate : files.key;
  if (files.certificate.empty())
    return key.empty() ? Result<void>() : bad_file("a client key without its certificate");
  if (auto found = check_readable("client certificate", files.certificate); !found) return found;
  if (auto found = check_readable("client key", key); !found) return found;
  SSL_CTX_set_default_passwd_cb(context, no_password);
  if (SSL_CTX_use_certificate_chain_file(context, files.certificate.c_str()) != 1)
    return bad_file("no client certificate in PEM is in " + files.certificate + ": " + reason());
  if (SSL_CTX_use_PrivateKey_file(context, key.c_str(), SSL_FILETYPE_PEM) == 1) return {};
  const std::string what = reason();
  if (what == "key values mismatch" || what == "key type mismatch")
    return bad_file("the client key " + key + " is not that of the certificate " +
                    files.certificate);
  return bad_file("no client key in PEM without a password is in " + key + ": " + what);
}

Result<void> use_authorities(SSL_CTX* context, const std::string& file) {
  if (file.empty()) {
    if (SSL_CTX_set_default_verify_paths(context) == 1) return {};
    return bad_file("cannot read the certificates of the system: " + reason());
  }
  if (SSL_CTX_load_verify_locations(context, file.c_str(), nullptr) == 1) return {};
  return bad_file("cannot read the certificates in " + file + ": " + reason());
}

// What a server means by it that wants to know us.
std::string explained(const std::string& what) {
  if (what.ends_with("certificate required"))
    return what + " (it asks for a client certificate, and none was given)";
  if (what.find("alert unknown ca") != what.npos || what.find("alert bad certificate") != what.npos)
    return what + " (it does not trust the client certificate)";
  return what;
}

}  // namespace

Result<void> check_tls_files(const TlsFiles& files) {
  ERR_clear_error();
  const std::unique_ptr<SSL_CTX, Free> context(SSL_CTX_new(TLS_client_method()));
  if (!context) return bad_file("no TLS: " + reason());
  if (auto used = use_authorities(context.get(), files.authorities); !used) return used;
  return use_own(context.get(), files);
}

struct Tls::Parts {
  Peer peer;
  std::string host;
  std::unique_ptr<SSL_CTX, Free> context;
  std::unique_ptr<SSL, Free> ssl;
  BIO* in = nullptr;  // both are the SSL's
  BIO* out = nullptr;
};

Tls::Tls(std::unique_ptr<Parts> parts) : parts_(std::move(parts)) {}
Tls::~Tls() = default;

Result<std::unique_ptr<Tls>> Tls::make(const std::string& host, const TlsFiles& files, Peer peer) {
  ERR_clear_error();
  auto parts = std::make_unique<Parts>();
  parts->peer = std::move(peer);
  parts->host = host;
  parts->context.reset(SSL_CTX_new(TLS_client_method()));
  SSL_CTX* const context = parts->context.get();
  if (!context) return wrong(parts->peer, "no TLS: " + reason());
  SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER, nullptr);
  const std::string operation = "connect to " + parts->peer.name;
  if (auto used = use_authorities(context, files.authorities); !used)
    return fail(used.error().code, operation, used.error().message);
  if (auto used = use_own(context, files); !used)
    return fail(used.error().code, operation, used.error().message);
  parts->ssl.reset(SSL_new(context));
  if (!parts->ssl || !expect_host(parts->ssl.get(), host))
    return wrong(parts->peer, "no TLS: " + reason());
  parts->in = BIO_new(BIO_s_mem());
  parts->out = BIO_new(BIO_s_mem());
  SSL_set_bio(parts->ssl.get(), parts->in, parts->out);
  SSL_set_connect_state(parts->ssl.get());
  return std::make_unique<Tls>(std::move(parts));
}

void Tls::feed(std::string_view encrypted) {
  BIO_write(parts_->in, encrypted.data(), static_cast<int>(encrypted.size()));
}

std::string_view Tls::to_send() {
  char* data = nullptr;
  const long size = BIO_get_mem_data(parts_->out, &data);
  return {data, static_cast<std::size_t>(std::max(size, 0L))};
}

void Tls::taken(std::size_t bytes) {
  char dropped[16384];
  while (bytes > 0) {
    const int read =
        BIO_read(parts_->out, dropped, static_cast<int>(std::min(bytes, sizeof(dropped))));
    if (read <= 0) return;
    bytes -= static_cast<std::size_t>(read);
  }
}

Result<bool> Tls::shake_hands() {
  ERR_clear_error();
  SSL* const ssl = parts_->ssl.get();
  const int done = SSL_do_handshake(ssl);
  if (done == 1) return true;
  const int why = SSL_get_error(ssl, done);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return false;
  const long verified = SSL_get_verify_result(ssl);
  if (verified == X509_V_ERR_HOSTNAME_MISMATCH || verified == X509_V_ERR_IP_ADDRESS_MISMATCH) {
    return wrong(parts_->peer, parts_->peer.name + "'s certificate is not for " + parts_->host);
  }
  if (verified != X509_V_OK) {
    return wrong(parts_->peer, parts_->peer.name + "'s certificate is not to be trusted: " +
                                   X509_verify_cert_error_string(verified) +
                                   " (name the file of its authority, unless the system knows it)");
  }
  const std::string what = reason();
  if (what == "wrong version number") {
    return wrong(parts_->peer, "there is no TLS at this port" + parts_->peer.tls_advice);
  }
  return wrong(parts_->peer, "no TLS: " + explained(what));
}

Result<std::size_t> Tls::read(std::span<char> into) {
  ERR_clear_error();
  std::size_t read = 0;
  const int done = SSL_read_ex(parts_->ssl.get(), into.data(), into.size(), &read);
  if (done == 1) return read;
  const int why = SSL_get_error(parts_->ssl.get(), done);
  if (why == SSL_ERROR_WANT_READ || why == SSL_ERROR_WANT_WRITE) return 0;
  if (why == SSL_ERROR_ZERO_RETURN)
    return wrong(parts_->peer, parts_->peer.name + " has ended the connection");
  return wrong(parts_->peer, "TLS was broken off: " + explained(reason()));
}

Result<void> Tls::write(std::string_view plain) {
  ERR_clear_error();
  std::size_t written = 0;
  // Into memory: it takes everything.
  if (SSL_write_ex(parts_->ssl.get(), plain.data(), plain.size(), &written) == 1) return {};
  return wrong(parts_->peer, "TLS was broken off: " + reason());
}

}  // namespace holdfast::io
