/*
 * The parser accepts exactly the JSON of an array of strings. jansson would allocate
 * memory for each of the million elements that a frame can hold.
 */
#include "proto/tvm_rpc/tracker.h"

#include "proto/base/json.h"
#include "proto/tvm_rpc/hello.h"

/* Bytes that are not read yet. */
struct rest {
	const uint8_t *p;
	size_t n;
};

struct text {
	uint8_t p[MSD_RPC_TRACKER_TEXT_BYTES + 1];
	size_t n;
};

static void write_frame(struct msd_buf *out, struct msd_buf *json)
{
	if (json->bad) {
		out->bad = true;
	} else {
		msd_rpc_tracker_write(out, (struct msd_span){json->p, json->n});
	}
	msd_buf_finish(json);
}

void msd_rpc_tracker_write_server(struct msd_buf *out, const char *key,
				  const char *host, uint16_t port)
{
	struct msd_buf json = {0}, text = {0};

	msd_buf_printf(&text, "server:%s", key);
	msd_buf_printf(&json, "[5, {\"key\": ");
	msd_json_str(&json, (struct msd_span){text.p, text.n});
	msd_buf_printf(&json, ", \"addr\": [");
	msd_json_cstr(&json, host);
	msd_buf_printf(&json, ", %u]}]", port);
	json.bad |= text.bad;
	msd_buf_finish(&text);
	write_frame(out, &json);
}

void msd_rpc_tracker_write_place(struct msd_buf *out, const char *key,
				 const char *match_key, const char *host, uint16_t port)
{
	struct msd_buf json = {0};

	msd_buf_printf(&json, "[3, ");
	msd_json_cstr(&json, key);
	msd_buf_printf(&json, ", [%u, ", port);
	msd_json_cstr(&json, match_key);
	msd_buf_printf(&json, "], ");
	msd_json_cstr(&json, host);
	msd_buf_printf(&json, "]");
	write_frame(out, &json);
}

void msd_rpc_tracker_write_question(struct msd_buf *out)
{
	msd_rpc_tracker_write(out, msd_span_of("[7]"));
}

static void skip_space(struct rest *r)
{
	while (r->n > 0 &&
	       (*r->p == ' ' || *r->p == '\t' || *r->p == '\n' || *r->p == '\r')) {
		r->p++;
		r->n--;
	}
}

static bool take(struct rest *r, uint8_t byte)
{
	if (r->n == 0 || *r->p != byte)
		return false;
	r->p++;
	r->n--;
	return true;
}

/* The same between spaces. */
static bool take_mark(struct rest *r, uint8_t mark)
{
	skip_space(r);
	const bool is_there = take(r, mark);
	skip_space(r);
	return is_there;
}

static void put(struct text *t, uint8_t byte)
{
	if (t->n < sizeof(t->p))
		t->p[t->n++] = byte;
}

static int hex_digit(uint8_t c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	if (c >= 'a' && c <= 'f')
		return c - 'a' + 10;
	return c >= 'A' && c <= 'F' ? c - 'A' + 10 : -1;
}

/* Keys of this server are ASCII; another character becomes a byte that none has. */
static bool take_unicode(struct rest *r, struct text *t)
{
	unsigned code = 0;

	if (r->n < 4)
		return false;
	for (unsigned i = 0; i < 4; i++) {
		const int digit = hex_digit(r->p[i]);
		if (digit < 0)
			return false;
		code = code * 16 + (unsigned)digit;
	}
	r->p += 4;
	r->n -= 4;
	put(t, code < 0x80 ? (uint8_t)code : 0xff);
	return true;
}

/* Take the rest of an escape sequence, behind its backslash. */
static bool take_escape(struct rest *r, struct text *t)
{
	static const char marks[] = "\"\\/bfnrt", bytes[] = "\"\\/\b\f\n\r\t";

	if (take(r, 'u'))
		return take_unicode(r, t);
	for (size_t i = 0; i + 1 < sizeof(marks); i++) {
		if (take(r, (uint8_t)marks[i])) {
			put(t, (uint8_t)bytes[i]);
			return true;
		}
	}
	return false;
}

static bool take_string(struct rest *r, struct text *ret)
{
	ret->n = 0;
	if (!take(r, '"'))
		return false;
	while (r->n > 0 && *r->p != '"') {
		const uint8_t c = *r->p++;
		r->n--;
		if (c < ' ' || (c == '\\' && !take_escape(r, ret)))
			return false;
		if (c != '\\')
			put(ret, c);
	}
	return take(r, '"');
}

/* Read strings with commas between them, up to the bracket. */
static bool take_strings(struct rest *r, bool (*on_key)(void *, struct msd_span),
			 void *user)
{
	struct text text;

	do {
		skip_space(r);
		if (!take_string(r, &text) ||
		    !on_key(user, (struct msd_span){text.p, text.n}))
			return false;
	} while (take_mark(r, ','));
	return take_mark(r, ']');
}

msd_err msd_rpc_tracker_read_left(struct msd_span json,
				  bool (*on_key)(void *user, struct msd_span key),
				  void *user, struct msd_diag *d)
{
	struct rest r = {json.p, json.n};

	if (take_mark(&r, '[') &&
	    (take_mark(&r, ']') || take_strings(&r, on_key, user)) && r.n == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_PROTOCOL,
			    "expected the match keys of this server, an array of "
			    "strings, got %zu other bytes",
			    json.n);
}

msd_err msd_rpc_tracker_read_done(struct msd_span json, struct msd_diag *d)
{
	struct rest r = {json.p, json.n};

	if (take_mark(&r, '0') && r.n == 0)
		return MSD_OK;
	return msd_diag_set(d, MSD_PROTOCOL,
			    "expected the answer 0, got %zu other bytes", json.n);
}
