#include <arpa/inet.h>
#include <criterion/criterion.h>
#include <fcntl.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "client/modser.h"
#include "proto/body.h"
#include "proto/frame.h"
#include "proto/value.h"
#include "tests/support/clock.h"

#define BODY_MAX 256u
#define MANY 6000u /* requests: more bytes than both sockets and a record hold */
#define PATIENCE_MS 20000
#define CHAIN 32u

/* A daemon that speaks TLS, answers each request with nil, and reads when it may. */
struct server {
	SSL_CTX *ctx;
	int fd;
	char address[64];
	sem_t may_read;
	bool hangs_up;    /* then, and answers nothing */
	bool shakes_half; /* it hangs up when it has said its part */
	pthread_t thread;
	uint64_t n_requests;
	bool has_gap; /* the ids of what came are not 1, 2, 3, ... */
};

static char ca_path[] = "/tmp/msd-tls-XXXXXX";
static char chain_path[] = "/tmp/msd-tls-XXXXXX";

/* For clients: with it a chain that is longer than what libssl writes at once. */
static void make_chain(X509 *x, EVP_PKEY *key)
{
	const int fd = mkstemp(chain_path);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	cr_assert_not_null(f);
	for (unsigned i = 0; i < CHAIN; i++)
		cr_assert_eq(PEM_write_X509(f, x), 1);
	cr_assert_eq(PEM_write_PrivateKey(f, key, NULL, NULL, 0, NULL, NULL), 1);
	(void)fclose(f);
}

/* Its own authority, for 127.0.0.1. */
static void show_certificate(SSL_CTX *ctx)
{
	EVP_PKEY *key = EVP_EC_gen("P-256");
	X509 *x = X509_new();
	X509_NAME *name = X509_get_subject_name(x);
	X509_EXTENSION *alt =
		X509V3_EXT_conf_nid(NULL, NULL, NID_subject_alt_name, "IP:127.0.0.1");
	const int fd = mkstemp(ca_path);
	FILE *f = fd >= 0 ? fdopen(fd, "w") : NULL;

	cr_assert(key != NULL && alt != NULL && f != NULL);
	(void)X509_set_version(x, X509_VERSION_3);
	(void)ASN1_INTEGER_set(X509_get_serialNumber(x), 1);
	(void)X509_gmtime_adj(X509_getm_notBefore(x), -3600);
	(void)X509_gmtime_adj(X509_getm_notAfter(x), 3600);
	(void)X509_set_pubkey(x, key);
	(void)X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
					 (const unsigned char *)"test", -1, -1, 0);
	(void)X509_set_issuer_name(x, name);
	(void)X509_add_ext(x, alt, -1);
	cr_assert(X509_sign(x, key, EVP_sha256()) > 0);
	cr_assert_eq(SSL_CTX_use_certificate(ctx, x), 1);
	cr_assert_eq(SSL_CTX_use_PrivateKey(ctx, key), 1);
	cr_assert_eq(PEM_write_X509(f, x), 1);
	(void)fclose(f);
	make_chain(x, key);
	X509_EXTENSION_free(alt);
	X509_free(x);
	EVP_PKEY_free(key);
}

static bool read_all(SSL *ssl, uint8_t *p, size_t n)
{
	size_t got = 0;

	for (size_t at = 0; at < n; at += got) {
		if (SSL_read_ex(ssl, p + at, n - at, &got) != 1)
			return false;
	}
	return true;
}

static bool answer(SSL *ssl, uint64_t id)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES] = {0};
	struct msd_buf b = {0};
	size_t put = 0;

	msd_buf_put(&b, head, sizeof(head));
	msd_body_begin_response(&b, id, false);
	msd_pack_nil(&b);
	msd_pack_nil(&b);
	msd_frame_write((struct msd_frame){(uint32_t)(b.n - sizeof(head)), 0}, b.p);
	const bool is_sent = SSL_write_ex(ssl, b.p, b.n, &put) == 1;
	msd_buf_finish(&b);
	return is_sent;
}

/* False: there is no more, or it is no frame. */
static bool serve_one(struct server *s, SSL *ssl)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES], bytes[BODY_MAX];
	struct msd_frame frame;
	struct msd_body body;

	if (!read_all(ssl, head, sizeof(head)))
		return false;
	if (msd_frame_read(head, sizeof(bytes), 0, &frame, NULL) != MSD_OK ||
	    !read_all(ssl, bytes, frame.body_bytes) ||
	    msd_body_read((struct msd_span){bytes, frame.body_bytes}, NULL, &body,
			  NULL) != MSD_OK) {
		s->has_gap = true;
		return false;
	}
	if (body.kind != MSD_REQUEST) /* the client's first frame */
		return true;
	s->has_gap = s->has_gap || body.id != ++s->n_requests;
	return answer(ssl, body.id);
}

/* What answers the client's first part; not a second one is read. */
static void say_one_part(SSL *ssl, int fd)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	(void)fcntl(fd, F_SETFL, O_NONBLOCK);
	if (poll(&p, 1, PATIENCE_MS) == 1 && SSL_set_fd(ssl, fd) == 1)
		(void)SSL_accept(ssl);
	(void)shutdown(fd, SHUT_WR);
}

static void *serve(void *ctx)
{
	struct server *s = ctx;
	const int fd = accept(s->fd, NULL, NULL);
	SSL *ssl = SSL_new(s->ctx);

	if (s->shakes_half) {
		say_one_part(ssl, fd);
	} else if (SSL_set_fd(ssl, fd) == 1 && SSL_accept(ssl) == 1) {
		while (sem_wait(&s->may_read) != 0)
			continue;
		while (serve_one(s, ssl) && !s->hangs_up)
			continue;
	}
	SSL_free(ssl);
	(void)close(fd);
	return NULL;
}

static void open_server(struct server *s)
{
	struct sockaddr_in at = {.sin_family = AF_INET,
				 .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
	socklen_t n = sizeof(at);
	const int small = 4096;

	(void)signal(SIGPIPE, SIG_IGN);
	*s = (struct server){.ctx = SSL_CTX_new(TLS_server_method())};
	show_certificate(s->ctx);
	(void)setenv("MODSER_TLS_CA", ca_path, 1);
	s->fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	(void)setsockopt(s->fd, SOL_SOCKET, SO_RCVBUF, &small, sizeof(small));
	cr_assert_eq(bind(s->fd, (const struct sockaddr *)(const void *)&at, n), 0);
	cr_assert_eq(listen(s->fd, 1), 0);
	cr_assert_eq(getsockname(s->fd, (struct sockaddr *)(void *)&at, &n), 0);
	(void)snprintf(s->address, sizeof(s->address), "tls://127.0.0.1:%u",
		       ntohs(at.sin_port));
	cr_assert_eq(sem_init(&s->may_read, 0, 0), 0);
	cr_assert_eq(pthread_create(&s->thread, NULL, serve, s), 0);
}

static void end_server(struct server *s)
{
	(void)close(s->fd);
	(void)sem_destroy(&s->may_read);
	SSL_CTX_free(s->ctx);
	(void)unlink(ca_path);
	(void)unlink(chain_path);
}

static void close_server(struct server *s)
{
	(void)pthread_join(s->thread, NULL);
	end_server(s);
}

static modser_client *connect_to(const struct server *s)
{
	modser_client *c = NULL;
	modser_result *why = NULL;

	cr_assert_eq(modser_open(s->address, PATIENCE_MS, &c, &why), MODSER_OK, "%s",
		     modser_result_error(why)->message);
	return c;
}

Test(tls, errors_that_the_program_has_left_are_not_the_connections)
{
	struct server s;
	modser_result *r = NULL;
	uint64_t id;

	open_server(&s);
	ERR_raise(ERR_LIB_USER, 1);
	modser_client *c = connect_to(&s);
	ERR_raise(ERR_LIB_USER, 1);
	cr_assert_eq(modser_start(c, "ping", NULL, 0, NULL, &id), MODSER_OK);
	(void)modser_process(c); /* there is nothing to be read yet */
	ERR_raise(ERR_LIB_USER, 1);
	cr_assert_eq(modser_process(c), MODSER_OK, "%s", modser_why(c)->message);
	(void)sem_post(&s.may_read);
	cr_expect_eq(modser_wait(c, id, &r), MODSER_OK, "%s",
		     modser_result_error(r)->message);
	modser_result_free(r);
	modser_close(c);
	close_server(&s);
}

Test(tls, errors_of_a_file_are_not_left_to_the_program)
{
	char path[] = "/tmp/msd-tls-XXXXXX";
	const int file = mkstemp(path);
	const int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in at;
	socklen_t n = sizeof(at);
	char address[64];
	modser_client *c = NULL;

	cr_assert_eq(write(file, "no PEM", 6), 6);
	(void)close(file);
	cr_assert_eq(listen(fd, 1), 0);
	cr_assert_eq(getsockname(fd, (struct sockaddr *)(void *)&at, &n), 0);
	(void)snprintf(address, sizeof(address), "tls://127.0.0.1:%u",
		       ntohs(at.sin_port));
	(void)setenv("MODSER_TLS_CA", path, 1);
	ERR_clear_error();
	cr_expect_eq(modser_open(address, PATIENCE_MS, &c, NULL), MODSER_BAD_REQUEST);
	cr_expect_eq(ERR_peek_error(), 0);
	(void)close(fd);
	(void)unlink(path);
}

static void count(void *ctx, modser_result *r)
{
	(*(unsigned *)ctx)++;
	modser_result_free(r);
}

/* Every second one has a deadline; the others are longer, and would fit into a record
 * that was made for both. */
static void start_many(modser_client *c, unsigned *n_ended)
{
	const modser_value text =
		modser_str("................................................");

	for (unsigned i = 0; i < MANY; i++) {
		const modser_options o = {
			.deadline_ms = i % 2, .done = count, .ctx = n_ended};
		cr_assert_eq(modser_start(c, "ping", &text, i % 2 == 0, &o, NULL),
			     MODSER_OK);
	}
	(void)modser_process(c);
	cr_assert((modser_events(c) & MODSER_WRITABLE) != 0, "all was taken");
}

/* What stands in a record is sent, whatever is taken out of the queue. */
Test(tls, what_a_record_has_taken_is_not_replaced_when_its_time_is_over)
{
	const int small = 4096;
	unsigned n_ended = 0;
	struct server s;

	open_server(&s);
	modser_client *c = connect_to(&s);
	(void)setsockopt(modser_fd(c), SOL_SOCKET, SO_SNDBUF, &small, sizeof(small));
	start_many(c, &n_ended);
	clock_pass(2000);
	(void)modser_process(c);
	(void)sem_post(&s.may_read);
	while (modser_in_flight(c) > 0 && modser_fd(c) >= 0) {
		struct pollfd p = {.fd = modser_fd(c), .events = POLLIN};
		if ((modser_events(c) & MODSER_WRITABLE) != 0)
			p.events |= POLLOUT;
		cr_assert_gt(poll(&p, 1, PATIENCE_MS), 0, "requests were never sent");
		(void)modser_process(c);
	}
	cr_expect_eq(n_ended, MANY);
	cr_expect_not_null(strstr(modser_why(c)->message, "does not read"), "%s",
			   modser_why(c)->message);
	modser_close(c);
	close_server(&s);
	cr_expect_not(s.has_gap, "what came behind request %llu was another",
		      (unsigned long long)s.n_requests);
}

/* It has ended; with the first record of what is sent yet the kernel learns that nobody
 * has it, and the second one is a SIGPIPE. */
Test(tls, who_hangs_up_within_a_request_is_no_signal)
{
	static const uint8_t large[1 << 17];
	const int64_t n = sizeof(large);
	const modser_value x = modser_tensor_arg((modser_dtype){1, 8, 1}, &n, 1, large);
	struct server s;

	open_server(&s);
	(void)signal(SIGPIPE, SIG_DFL);
	modser_client *c = connect_to(&s);
	s.hangs_up = true;
	(void)sem_post(&s.may_read);
	(void)pthread_join(s.thread, NULL);
	cr_assert_eq(modser_start(c, "x", &x, 1, NULL, NULL), MODSER_OK);
	modser_err err = MODSER_OK;
	for (unsigned i = 0; err == MODSER_OK && i < 10; i++)
		err = modser_process(c);
	cr_expect_eq(err, MODSER_IO);
	modser_close(c);
	end_server(&s);
}

Test(tls, who_hangs_up_within_a_handshake_is_no_signal)
{
	modser_client *c = NULL;
	struct server s;

	open_server(&s);
	(void)signal(SIGPIPE, SIG_DFL);
	SSL_CTX_set_verify(s.ctx, SSL_VERIFY_PEER, NULL);
	s.shakes_half = true;
	(void)setenv("MODSER_TLS_CERT", chain_path, 1);
	const modser_err err = modser_open(s.address, PATIENCE_MS, &c, NULL);
	(void)pthread_join(s.thread, NULL);
	/* All of it was sent before, or the server had it and does not know whose it
	 * is. */
	if (err == MODSER_OK) {
		modser_result *r = NULL;
		cr_expect_neq(modser_request(c, "ping", NULL, 0, NULL, &r), MODSER_OK);
		modser_result_free(r);
	}
	modser_close(c);
	end_server(&s);
}
