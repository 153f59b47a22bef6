#include "proto/tvm_rpc/hello.h"

#include <math.h>
#include <stdlib.h>

#define WORD_BYTES 4u
#define CLIENT "client:"
#define SERVER "server:"
#define TIMEOUT " -timeout="
#define MAX_TIMEOUT_S 1e9
#define MAX_NUMBER_BYTES 31u

/* The position of @text in @s, or s.n. */
static size_t find(struct msd_span s, const char *text)
{
	const size_t n = strlen(text);

	for (size_t i = 0; i + n <= s.n; i++) {
		if (memcmp(s.p + i, text, n) == 0)
			return i;
	}
	return s.n;
}

static msd_err read_timeout(struct msd_span s, uint64_t *ret_ms, struct msd_diag *d)
{
	char text[MAX_NUMBER_BYTES + 1];
	char *end = text;
	double seconds = 0;

	if (s.n > 0 && s.n <= MAX_NUMBER_BYTES) {
		memcpy(text, s.p, s.n);
		text[s.n] = 0;
		seconds = strtod(text, &end);
	}
	if (end == text || *end != 0 || !(seconds > 0 && seconds <= MAX_TIMEOUT_S)) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "TVM RPC hello: the timeout is no number of "
				    "seconds above 0");
	}
	*ret_ms = (uint64_t)ceil(seconds * 1000);
	return MSD_OK;
}

static msd_err read_text(struct msd_span text, struct msd_rpc_hello *ret,
			 struct msd_diag *d)
{
	if (!msd_span_behind(text, CLIENT, &text)) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "TVM RPC hello: it does not begin with " CLIENT);
	}
	const size_t at = find(text, " ");
	struct msd_span rest = {text.p + at, text.n - at};

	*ret = (struct msd_rpc_hello){.key = {text.p, at}};
	const size_t option = find(rest, TIMEOUT);
	if (option == rest.n)
		return MSD_OK;
	rest.p += option + strlen(TIMEOUT);
	rest.n -= option + strlen(TIMEOUT);
	rest.n = find(rest, " ");
	return read_timeout(rest, &ret->timeout_ms, d);
}

/* Read i32 length and that many bytes. */
static msd_err read_frame(struct msd_span bytes, uint32_t most, struct msd_span *ret,
			  struct msd_diag *d)
{
	if (bytes.n < WORD_BYTES)
		return MSD_WAIT;
	const uint32_t n = msd_le32(bytes.p);
	if (n > most) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "TVM RPC: a text of %d bytes; at most %u are "
				    "possible",
				    (int)n, most);
	}
	if (bytes.n - WORD_BYTES < n)
		return MSD_WAIT;
	*ret = (struct msd_span){bytes.p + WORD_BYTES, n};
	return MSD_OK;
}

msd_err msd_rpc_hello_read(struct msd_span bytes, struct msd_rpc_hello *ret,
			   size_t *ret_used, struct msd_diag *d)
{
	struct msd_span text = {0};

	if (bytes.n < WORD_BYTES)
		return MSD_WAIT;
	if (msd_le32(bytes.p) != MSD_RPC_MAGIC) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "TVM RPC hello: the first word is 0x%08x, not "
				    "0x%08x",
				    msd_le32(bytes.p), MSD_RPC_MAGIC);
	}
	const struct msd_span rest = {bytes.p + WORD_BYTES, bytes.n - WORD_BYTES};
	const msd_err err = read_frame(rest, MSD_RPC_MAX_HELLO_BYTES, &text, d);
	if (err != MSD_OK)
		return err;
	*ret_used = 2 * (size_t)WORD_BYTES + text.n;
	return read_text(text, ret, d);
}

void msd_rpc_hello_accept(struct msd_buf *out, struct msd_span key)
{
	msd_buf_put_u32(out, MSD_RPC_MAGIC);
	msd_buf_put_u32(out, (uint32_t)(strlen(SERVER) + key.n));
	msd_buf_put(out, SERVER, strlen(SERVER));
	msd_buf_put(out, key.p, key.n);
}

void msd_rpc_hello_refuse(struct msd_buf *out)
{
	msd_buf_put_u32(out, MSD_RPC_MISMATCH);
}

msd_err msd_rpc_tracker_read(struct msd_span bytes, struct msd_span *ret,
			     size_t *ret_used, struct msd_diag *d)
{
	const msd_err err = read_frame(bytes, MSD_RPC_MAX_TRACKER_BYTES, ret, d);

	if (err == MSD_OK)
		*ret_used = WORD_BYTES + ret->n;
	return err;
}

void msd_rpc_tracker_write(struct msd_buf *out, struct msd_span json)
{
	msd_buf_put_u32(out, (uint32_t)json.n);
	msd_buf_put(out, json.p, json.n);
}
