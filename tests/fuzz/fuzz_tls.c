/*
 * TLS as the daemon speaks it (daemon/tls/), against a client of OpenSSL's own whose
 * bytes are cut, changed, lost, repeated and mixed with others on their way.
 *
 * An input is a byte of flags and then steps of two bytes, what and how much. Whatever
 * happens: what the daemon reads is the beginning of what the client has said, the
 * other way round, too, and nothing comes behind an end. While nobody changes anything,
 * all that was said is read by who waits as the daemon does, for the descriptor's
 * events and what the transport says that it holds.
 */
#include <errno.h>
#include <fcntl.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <unistd.h>
#include <uv.h>

#include "daemon/stream/tls.h"
#include "tests/fuzz/fuzz.h"

#define SAID_MAX (UINT32_C(1) << 20) /* each way */
#define WIRE_MAX (UINT32_C(1) << 21)
#define STEPS_MAX 200u
#define TURNS_MAX 100000u

extern const struct msd_tls_library msd_tls_entry;

/* Of an input's first byte; what is above them says how it ends: 1 by TLS's own end,
 * 2 by the socket's. */
enum { SHOWS_CERTIFICATE = 1, FROM_THE_START = 2, IS_OLD = 4, ENDS = 8 };

struct world {
	SSL *client;
	int fd; /* the client's end */
	struct msd_transport server;
	bool is_open, is_broken, has_ended; /* the server's side */
	bool is_changed;                    /* what the client sent */
	/* OpenSSL cannot answer who asks for new keys while a record is half written.
	 */
	bool asked_for_keys, was_full;
	size_t said_up, read_up, said_down, read_down;
	size_t wants_down;
	uint8_t *wire; /* what the client has sent and the socket does not have */
	size_t n_wire;
};

static uint8_t *text; /* SAID_MAX bytes, what each side says */
static struct msd_tls_context *context;
static SSL_CTX *clients[2]; /* by IS_OLD */
static X509 *certificate;
static EVP_PKEY *key;

/* A file in memory that is read by its name. */
static void name_of_memory(char ret[static 32], int *ret_fd)
{
	*ret_fd = memfd_create("pem", MFD_CLOEXEC);
	MUST(*ret_fd >= 0 && fchmod(*ret_fd, 0600) == 0);
	(void)snprintf(ret, 32, "/proc/self/fd/%d", *ret_fd);
}

static void make_certificate(void)
{
	X509_NAME *name;

	key = EVP_EC_gen("P-256");
	certificate = X509_new();
	MUST(key != NULL && certificate != NULL);
	MUST(X509_set_version(certificate, 2) == 1);
	name = X509_get_subject_name(certificate);
	MUST(X509_NAME_add_entry_by_txt(name, "CN", MBSTRING_ASC,
					(const uint8_t *)"both", -1, -1, 0) == 1);
	MUST(X509_set_issuer_name(certificate, name) == 1);
	MUST(X509_gmtime_adj(X509_getm_notBefore(certificate), -3600) != NULL);
	MUST(X509_gmtime_adj(X509_getm_notAfter(certificate), 360000) != NULL);
	MUST(X509_set_pubkey(certificate, key) == 1);
	MUST(X509_sign(certificate, key, EVP_sha256()) > 0);
}

static void write_pem(int cert_fd, int key_fd)
{
	FILE *c = fdopen(dup(cert_fd), "w"), *k = fdopen(dup(key_fd), "w");

	MUST(c != NULL && PEM_write_X509(c, certificate) == 1 && fclose(c) == 0);
	MUST(k != NULL &&
	     PEM_write_PrivateKey(k, key, NULL, NULL, 0, NULL, NULL) == 1 &&
	     fclose(k) == 0);
}

static void prepare(void)
{
	char cert_name[32], key_name[32];
	const struct msd_tls_files files = {.cert = cert_name,
					    .key = key_name,
					    .ca = cert_name,
					    .takes_strangers = true};
	struct msd_diag d = {0};
	uint32_t x = 1;
	int cert_fd, key_fd;

	if (context != NULL)
		return;
	(void)signal(SIGPIPE, SIG_IGN); /* as the daemon does */
	text = malloc(SAID_MAX);
	MUST(text != NULL);
	for (size_t i = 0; i < SAID_MAX; i++) {
		x = x * 1664525u + 1013904223u;
		text[i] = (uint8_t)(x >> 24);
	}
	make_certificate();
	name_of_memory(cert_name, &cert_fd);
	name_of_memory(key_name, &key_fd);
	write_pem(cert_fd, key_fd);
	MUST(msd_tls_entry.context_open(&files, &context, &d) == MSD_OK);
	(void)close(cert_fd);
	(void)close(key_fd);
	for (int is_old = 0; is_old < 2; is_old++) {
		clients[is_old] = SSL_CTX_new(TLS_client_method());
		MUST(clients[is_old] != NULL);
	}
	MUST(SSL_CTX_set_max_proto_version(clients[1], TLS1_2_VERSION) == 1);
}

static void world_init(struct world *w, unsigned flags)
{
	struct msd_diag d = {0};
	int ends[2];

	*w = (struct world){.wire = malloc(WIRE_MAX)};
	MUST(w->wire != NULL);
	MUST(socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK | SOCK_CLOEXEC, 0, ends) ==
	     0);
	w->fd = ends[0];
	MUST(msd_tls_entry.accept(context, ends[1], &w->server, &d) == MSD_OK);
	w->client = SSL_new(clients[(flags & IS_OLD) != 0]);
	MUST(w->client != NULL);
	SSL_set_bio(w->client, BIO_new(BIO_s_mem()), BIO_new(BIO_s_mem()));
	SSL_set_connect_state(w->client);
	if ((flags & SHOWS_CERTIFICATE) != 0) {
		MUST(SSL_use_certificate(w->client, certificate) == 1);
		MUST(SSL_use_PrivateKey(w->client, key) == 1);
	}
}

static void world_finish(struct world *w)
{
	uint8_t scratch[4096];

	if (w->server.state != NULL) {
		w->server.ops->end(&w->server, scratch, sizeof(scratch));
		w->server.ops->close(&w->server);
	} else { /* its handshake has failed */
		(void)close(w->server.fd);
	}
	SSL_free(w->client);
	(void)close(w->fd);
	free(w->wire);
}

/* What the client has made of what it wants to say. */
static void gather(struct world *w)
{
	const int n = BIO_read(SSL_get_wbio(w->client), w->wire + w->n_wire,
			       (int)(WIRE_MAX - w->n_wire));

	w->n_wire += n > 0 ? (size_t)n : 0;
}

static void lose(struct world *w, size_t n)
{
	memmove(w->wire, w->wire + n, w->n_wire - n);
	w->n_wire -= n;
}

static void deliver(struct world *w, size_t most)
{
	gather(w);
	const size_t n = most < w->n_wire ? most : w->n_wire;
	const ssize_t sent = n > 0 ? send(w->fd, w->wire, n, MSG_NOSIGNAL) : 0;
	if (sent > 0)
		lose(w, (size_t)sent);
}

static void hear(struct world *w)
{
	uint8_t bytes[16384];
	size_t got;
	ssize_t n;

	while ((n = recv(w->fd, bytes, sizeof(bytes), 0)) > 0)
		(void)BIO_write(SSL_get_rbio(w->client), bytes, (int)n);
	while (SSL_read_ex(w->client, bytes, sizeof(bytes), &got) == 1) {
		MUST(got <= w->said_down - w->read_down);
		MUST(memcmp(bytes, text + w->read_down, got) == 0);
		w->read_down += got;
	}
}

static void say(struct world *w, size_t n)
{
	size_t put = 0;

	if (SSL_is_init_finished(w->client) == 0 || n > SAID_MAX - w->said_up ||
	    n > (WIRE_MAX - w->n_wire) / 2)
		return;
	if (SSL_write_ex(w->client, text + w->said_up, n, &put) == 1)
		w->said_up += put;
	gather(w);
}

static void shake(struct world *w)
{
	struct msd_diag d = {0};

	(void)SSL_do_handshake(w->client);
	gather(w);
	if (w->is_open || w->is_broken)
		return;
	const msd_err err = msd_tls_entry.handshake(&w->server, &d);
	w->is_open = err == MSD_OK;
	w->is_broken = err != MSD_OK && err != MSD_WAIT;
	MUST(!w->is_broken || msd_diag_text(&d)[0] != '\0');
	msd_diag_finish(&d);
}

/* False: nothing more is there now, or ever. */
static bool server_reads(struct world *w, size_t n)
{
	static uint8_t bytes[3][32768];
	struct iovec pieces[3] = {
		{bytes[0], n / 3}, {bytes[1], 1}, {bytes[2], 1 + n / 2}};
	size_t at = w->read_up;

	if (!w->is_open)
		return false;
	const ssize_t got = w->server.ops->read(&w->server, pieces, 3, NULL);
	if (got <= 0) {
		w->is_broken = w->is_broken || (got < 0 && got != -EAGAIN);
		w->has_ended = w->has_ended || got == 0;
		MUST(got != -EPROTO || w->server.ops->cause(&w->server)[0] != '\0');
		return false;
	}
	MUST(!w->has_ended && !w->is_broken);
	size_t left = (size_t)got;
	MUST(left <= w->said_up - w->read_up);
	for (int i = 0; i < 3 && left > 0; i++) {
		const size_t here = left < pieces[i].iov_len ? left : pieces[i].iov_len;
		MUST(memcmp(pieces[i].iov_base, text + at, here) == 0);
		at += here;
		left -= here;
	}
	MUST(left == 0);
	w->read_up = at;
	return true;
}

/* What was not taken comes again, with more behind it. */
static void server_writes(struct world *w, size_t n)
{
	if (!w->is_open || w->is_broken || n > SAID_MAX - w->said_down - w->wants_down)
		return;
	w->wants_down += n;
	/* Its pieces are what it may change; the bytes are only read. */
	struct iovec piece = {text + w->said_down, w->wants_down};
	const ssize_t put = w->wants_down > 0
				    ? w->server.ops->writev(&w->server, &piece, 1, -1)
				    : 0;
	if (put > 0) {
		MUST((size_t)put <= w->wants_down);
		w->said_down += (size_t)put;
		w->wants_down -= (size_t)put;
	}
	w->was_full = w->was_full || w->wants_down > 0;
	const int wanted = w->server.ops->wants(&w->server, UV_READABLE);
	MUST((wanted & ~(UV_READABLE | UV_WRITABLE)) == 0);
}

static void end(struct world *w, unsigned how)
{
	if ((how & 1) != 0)
		(void)SSL_shutdown(w->client);
	deliver(w, SIZE_MAX);
	if ((how & 2) != 0) {
		w->is_changed = w->is_changed || w->n_wire > 0; /* that is lost */
		(void)shutdown(w->fd, SHUT_WR);
	}
}

static void change(struct world *w, unsigned how, size_t n)
{
	gather(w);
	const size_t had = w->n_wire;
	const size_t part = n < had ? n : had;
	if (how == 0 && had > 0) {
		w->wire[n % had] ^= (uint8_t)(1u << n % 8);
	} else if (how == 1) {
		lose(w, part);
	} else if (how == 2 && part <= WIRE_MAX - had) {
		memcpy(w->wire + had, w->wire, part);
		w->n_wire += part;
	} else if (how == 3 && had < WIRE_MAX) {
		w->wire[w->n_wire++] = (uint8_t)n;
	}
	w->is_changed = w->is_changed || how == 0 || w->n_wire != had;
}

static void step(struct world *w, unsigned what, unsigned how)
{
	/* Small ones one by one, large ones beyond a record's size. */
	const size_t n = how < 128 ? how : (how - 127) * 257u;

	switch (what % 12) {
	case 0:
		say(w, n);
		break;
	case 1:
		deliver(w, n);
		break;
	case 2:
		deliver(w, SIZE_MAX);
		break;
	case 3:
		(void)server_reads(w, n);
		break;
	case 4:
		server_writes(w, n);
		break;
	case 5:
		hear(w);
		break;
	case 6:
		shake(w);
		break;
	case 7:
		if (SSL_is_init_finished(w->client) != 0)
			(void)SSL_key_update(w->client, (int)(how & 1));
		w->asked_for_keys = true;
		break;
	default:
		change(w, what % 12 - 8, n);
		break;
	}
}

static bool is_readable(const struct world *w)
{
	struct pollfd p = {.fd = w->server.fd, .events = POLLIN};

	return poll(&p, 1, 0) > 0;
}

/* All that is on its way arrives, as the daemon's loop would have it. */
static void settle(struct world *w)
{
	for (unsigned i = 0; i < TURNS_MAX; i++) {
		hear(w);
		shake(w);
		deliver(w, SIZE_MAX);
		const bool is_told = is_readable(w) ||
				     (w->is_open && w->server.ops->holds(&w->server));
		if (is_told)
			(void)server_reads(w, 16384);
		if ((!is_told && w->n_wire == 0) || w->is_broken || w->has_ended)
			return;
	}
	abort(); /* it says that there is something, and there is nothing */
}

int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	const unsigned flags = n > 0 ? data[0] : 0;
	struct world w;

	prepare();
	world_init(&w, flags);
	for (int i = 0; i < 6 && (flags & FROM_THE_START) == 0; i++) {
		shake(&w);
		deliver(&w, SIZE_MAX);
		hear(&w);
	}
	for (size_t i = 1; i + 1 < n && i < 2 * STEPS_MAX; i += 2)
		step(&w, data[i], data[i + 1]);
	if ((flags & ENDS) != 0)
		end(&w, flags >> 4);
	settle(&w);
	const bool is_good = w.is_open && !w.is_broken && !w.is_changed;
	MUST(!is_good || w.has_ended || w.read_up == w.said_up);
	MUST(w.is_changed || !w.has_ended || w.read_up == w.said_up);
	MUST(w.is_changed || !w.is_broken || !w.is_open ||
	     (w.asked_for_keys && w.was_full));
	world_finish(&w);
	return is_good;
}
