/*
 * bench_tls: the cost of TLS alone, with libssl and without the daemon.
 *
 *   bench_tls sink ADDRESS CERT KEY              a server: bench_sink over TLS
 *   bench_tls put|get ADDRESS CA TARGET BYTES N  a client: p50_ns min_ns
 *   bench_tls shake ADDRESS CA N                 sequential handshakes: p50_ns
 *
 * ADDRESS is tcp://HOST:PORT. TARGET is "module:function" of a daemon, or `sink`.
 */
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "bench/net.h"
#include "bench/request.h"
#include "proto/base/bytes.h"
#include "proto/frame.h"
#include "proto/limits.h"

#define BUFFER_BYTES (64u << 20)
#define SINK_BODY_BYTES 8u
#define WARM_UP 3u

static _Noreturn void fail(const char *what)
{
	(void)fprintf(stderr, "bench_tls: %s\n", what);
	ERR_print_errors_fp(stderr);
	exit(1);
}

static void write_all(SSL *s, const uint8_t *p, size_t n)
{
	size_t put;

	if (n > 0 && (SSL_write_ex(s, p, n, &put) != 1 || put != n))
		fail("write");
}

static bool read_or_end(SSL *s, uint8_t *p, size_t n)
{
	size_t got = 0;

	for (size_t at = 0; at < n; at += got) {
		if (SSL_read_ex(s, p + at, n - at, &got) != 1)
			return false;
	}
	return true;
}

static void read_all(SSL *s, uint8_t *p, size_t n)
{
	if (!read_or_end(s, p, n))
		fail("read");
}

static SSL *start(SSL_CTX *ctx, int fd, bool is_server)
{
	SSL *s = SSL_new(ctx);

	if (s == NULL || SSL_set_fd(s, fd) != 1)
		fail("SSL_new");
	if ((is_server ? SSL_accept(s) : SSL_connect(s)) != 1)
		fail("handshake");
	return s;
}

static void answer(SSL *s, uint8_t *buffer)
{
	uint8_t head[MSD_FRAME_HEADER_BYTES + SINK_BODY_BYTES] = {0};
	struct msd_frame f;

	while (read_or_end(s, head, MSD_FRAME_HEADER_BYTES)) {
		if (msd_frame_read(head, SINK_BODY_BYTES, BUFFER_BYTES, &f, NULL) !=
		    MSD_OK)
			fail("no frame of the sink's");
		read_all(s, head + MSD_FRAME_HEADER_BYTES, f.body_bytes);
		const uint64_t want = msd_le64(head + MSD_FRAME_HEADER_BYTES);
		if (want > BUFFER_BYTES)
			fail("more is wanted than there is");
		read_all(s, buffer, (size_t)f.payload_bytes);
		msd_frame_write((struct msd_frame){SINK_BODY_BYTES, want}, head);
		write_all(s, head, sizeof(head));
		write_all(s, buffer, (size_t)want);
	}
}

static void sink(const char *address, const char *cert, const char *key)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_server_method());
	uint8_t *buffer = malloc(BUFFER_BYTES);

	if (ctx == NULL || buffer == NULL ||
	    SSL_CTX_set_min_proto_version(ctx, TLS1_3_VERSION) != 1 ||
	    SSL_CTX_set_num_tickets(ctx, 0) != 1 ||
	    SSL_CTX_use_certificate_chain_file(ctx, cert) != 1 ||
	    SSL_CTX_use_PrivateKey_file(ctx, key, SSL_FILETYPE_PEM) != 1)
		fail("certificate and key");
	memset(buffer, 1, BUFFER_BYTES); /* warm: its pages are resident */
	const int listener = bench_listen(address);
	for (;;) {
		const int fd = bench_accept(listener);
		SSL *s = start(ctx, fd, true);
		answer(s, buffer);
		SSL_free(s);
		(void)close(fd);
		ERR_clear_error();
	}
}

static SSL_CTX *client(const char *ca)
{
	SSL_CTX *ctx = SSL_CTX_new(TLS_client_method());

	if (ctx == NULL || SSL_CTX_load_verify_locations(ctx, ca, NULL) != 1)
		fail("--tls-ca");
	SSL_CTX_set_verify(ctx, SSL_VERIFY_PEER, NULL);
	return ctx;
}

static int by_value(const void *a, const void *b)
{
	const uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void print_times(uint64_t *ns, size_t n)
{
	qsort(ns, n, sizeof(*ns), by_value);
	(void)printf("p50_ns=%llu min_ns=%llu\n", (unsigned long long)ns[n / 2],
		     (unsigned long long)ns[0]);
	free(ns);
}

static uint64_t *times_new(size_t n)
{
	uint64_t *ns = calloc(n, sizeof(*ns));

	if (ns == NULL)
		fail("out of memory");
	return ns;
}

/* Send one frame and receive one, as bench_call does. */
static void exchange(SSL *s, const struct msd_buf *r, uint8_t *data, uint64_t bytes,
		     bool is_put)
{
	static uint8_t body[MSD_MAX_BODY_BYTES];
	uint8_t head[MSD_FRAME_HEADER_BYTES];

	write_all(s, r->p, r->n);
	write_all(s, data, is_put ? (size_t)bytes : 0);
	read_all(s, head, sizeof(head));
	if (msd_le32(head + 4) > sizeof(body) ||
	    msd_le64(head + 8) != (is_put ? 0 : bytes))
		fail("the answer has not the size that was asked for");
	read_all(s, body, msd_le32(head + 4));
	read_all(s, data, is_put ? 0 : (size_t)bytes);
}

static void bulk(SSL *s, const char *target, bool is_put, uint64_t bytes, size_t n)
{
	struct msd_buf r =
		strchr(target, ':') != NULL
			? bench_request_tensor(target, bytes, !is_put)
			: bench_request_sink(is_put ? bytes : 0, is_put ? 0 : bytes);
	uint8_t *data = calloc(1, (size_t)bytes);
	uint64_t *ns = times_new(n);

	if (data == NULL)
		fail("out of memory");
	for (unsigned i = 0; i < WARM_UP; i++)
		exchange(s, &r, data, bytes, is_put);
	for (size_t i = 0; i < n; i++) {
		const uint64_t begin = bench_now_ns();
		exchange(s, &r, data, bytes, is_put);
		ns[i] = bench_now_ns() - begin;
	}
	print_times(ns, n);
	free(data);
	msd_buf_finish(&r);
}

static void shake(SSL_CTX *ctx, const char *address, size_t n)
{
	uint64_t *ns = times_new(n);

	for (size_t i = 0; i < n; i++) {
		const uint64_t begin = bench_now_ns();
		const int fd = bench_connect(address);
		SSL *s = start(ctx, fd, false);
		ns[i] = bench_now_ns() - begin;
		(void)SSL_shutdown(s);
		SSL_free(s);
		(void)close(fd);
	}
	print_times(ns, n);
}

int main(int argc, char **argv)
{
	const char *mode = argc > 2 ? argv[1] : "";
	const bool is_put = strcmp(mode, "put") == 0;

	(void)signal(SIGPIPE, SIG_IGN);
	if (strcmp(mode, "sink") == 0 && argc == 5) {
		sink(argv[2], argv[3], argv[4]);
	} else if (strcmp(mode, "shake") == 0 && argc == 5) {
		shake(client(argv[3]), argv[2], strtoul(argv[4], NULL, 10));
	} else if ((is_put || strcmp(mode, "get") == 0) && argc == 7) {
		SSL *s = start(client(argv[3]), bench_connect(argv[2]), false);
		bulk(s, argv[4], is_put, strtoull(argv[5], NULL, 10),
		     strtoul(argv[6], NULL, 10));
		SSL_free(s);
	} else {
		(void)fprintf(stderr, "usage: bench_tls sink|put|get|shake ...\n");
		return 2;
	}
	return 0;
}
