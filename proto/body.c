/* Distinguish the three shapes of a body and split it into its parts without decoding
 * them. */
#include "proto/body.h"

#include <endian.h>
#include <string.h>

#include "proto/limits.h"
#include "proto/scan.h"
#include "proto/token.h"
#include "proto/value.h"

/* Peek at the head of the next object, which must be of @kind. */
static msd_err expect(struct msd_scan *s, enum msd_token_kind kind, const char *what,
		      struct msd_token *ret)
{
	size_t n = msd_token_read(s->p, (size_t)(s->end - s->p), ret);

	if (n == 0 || ret->kind != kind)
		return msd_scan_fail(s, s->p, "%s expected", what);
	return MSD_OK;
}

/* Walk the next object, which must be of @kind. */
static msd_err read_part(struct msd_scan *s, enum msd_token_kind kind, const char *what,
			 struct msd_span *ret)
{
	struct msd_token t;
	msd_err err = expect(s, kind, what, &t);

	return err == MSD_OK ? msd_scan_value(s, ret) : err;
}

/* msgpack allows any width and the signed forms for a number. */
static msd_err read_uint(struct msd_scan *s, const char *what, uint64_t *ret)
{
	struct msd_token t;
	size_t n = msd_token_read(s->p, (size_t)(s->end - s->p), &t);

	if (n == 0 || (t.kind != MSD_TOK_UINT && t.kind != MSD_TOK_INT) ||
	    (t.kind == MSD_TOK_INT && (t.data[0] & 0x80) != 0)) {
		return msd_scan_fail(s, s->p, "%s expected: an integer, not negative",
				     what);
	}
	*ret = msd_be(t.data, t.n);
	s->n_objects++;
	s->p += n;
	return MSD_OK;
}

static msd_err read_method(struct msd_scan *s, struct msd_span *ret)
{
	struct msd_token t;
	struct msd_span object;
	msd_err err = expect(s, MSD_TOK_STR, "method (a str)", &t);

	if (err == MSD_OK)
		err = msd_scan_value(s, &object);
	if (err == MSD_OK)
		*ret = (struct msd_span){.p = t.data, .n = t.n};
	return err;
}

static msd_err read_request(struct msd_scan *s, uint32_t n, struct msd_body *b)
{
	msd_err err;

	if (n != 4 && n != 5) {
		return msd_scan_fail(s, s->base,
				     "a request has 4 or 5 elements, not %u", n);
	}
	err = read_uint(s, "id", &b->id);
	if (err == MSD_OK)
		err = read_method(s, &b->method);
	if (err == MSD_OK)
		err = read_part(s, MSD_TOK_ARRAY, "params (an array)", &b->params);
	if (err == MSD_OK && n == 5)
		err = read_part(s, MSD_TOK_MAP, "options (a map)", &b->options);
	return err;
}

/* nil, or [code, name, message, details?]; code 0 is not a valid error. */
static msd_err check_error(struct msd_scan *s, struct msd_span error)
{
	static const char rule[] =
		"error is nil or [code, name, message, {details}], code not 0";
	static const enum msd_token_kind kinds[] = {MSD_TOK_UINT, MSD_TOK_STR,
						    MSD_TOK_STR, MSD_TOK_MAP};
	const uint8_t *p = error.p, *end = error.p + error.n;
	struct msd_token t;

	size_t n = msd_token_read(p, error.n, &t);
	if (t.kind == MSD_TOK_NIL)
		return MSD_OK;
	if (t.kind != MSD_TOK_ARRAY || t.n < 3 || t.n > 4)
		return msd_scan_fail(s, p, rule);
	uint32_t n_elements = t.n;
	for (uint32_t i = 0; i < n_elements;
	     i++) { /* only the last has elements of its own */
		p += n;
		n = msd_token_read(p, (size_t)(end - p), &t);
		if (t.kind != kinds[i] || (i == 0 && msd_be(t.data, t.n) == MSD_OK))
			return msd_scan_fail(s, p, rule);
	}
	return MSD_OK;
}

static msd_err read_response(struct msd_scan *s, uint32_t n, struct msd_body *b)
{
	msd_err err;

	if (n != 4 && n != 5) {
		return msd_scan_fail(s, s->base,
				     "a response has 4 or 5 elements, not %u", n);
	}
	err = read_uint(s, "id", &b->id);
	if (err == MSD_OK)
		err = msd_scan_value(s, &b->error);
	if (err == MSD_OK)
		err = check_error(s, b->error);
	if (err == MSD_OK)
		err = msd_scan_value(s, &b->result);
	if (err == MSD_OK && n == 5)
		err = read_part(s, MSD_TOK_MAP, "meta (a map)", &b->meta);
	return err;
}

static msd_err read_notification(struct msd_scan *s, uint32_t n, struct msd_body *b)
{
	if (n != 3) {
		return msd_scan_fail(s, s->base,
				     "a notification has 3 elements, not %u", n);
	}
	msd_err err = read_method(s, &b->method);
	if (err == MSD_OK)
		err = read_part(s, MSD_TOK_ARRAY, "params (an array)", &b->params);
	return err;
}

/* Responses may be larger: a list of many functions, or the reply of a worker. */
static msd_err set_limits(struct msd_scan *s, uint64_t kind)
{
	size_t n = (size_t)(s->end - s->base);
	size_t max = MSD_MAX_FORWARDED_BODY_BYTES; /* a client has a lower limit */

	if (kind == MSD_RESPONSE) {
		max = MSD_MAX_REPLY_BODY_BYTES;
		s->max_objects = s->max_reply_objects;
	}
	if (n > max) {
		return msd_scan_fail(s, s->base, "%zu bytes; at most %zu are allowed",
				     n, max);
	}
	return MSD_OK;
}

static msd_err read_envelope(struct msd_scan *s, struct msd_body *b)
{
	struct msd_token t;
	uint64_t kind;
	msd_err err = expect(s, MSD_TOK_ARRAY, "the body's array", &t);

	if (err != MSD_OK)
		return err;
	s->p = t.data;
	s->n_objects = 1;
	s->depth = 1;
	err = read_uint(s, "kind", &kind);
	if (err == MSD_OK)
		err = set_limits(s, kind);
	if (err != MSD_OK)
		return err;
	switch (kind) {
	case MSD_REQUEST:
		b->kind = MSD_REQUEST;
		return read_request(s, t.n, b);
	case MSD_RESPONSE:
		b->kind = MSD_RESPONSE;
		return read_response(s, t.n, b);
	case MSD_NOTIFICATION:
		b->kind = MSD_NOTIFICATION;
		return read_notification(s, t.n, b);
	default:
		return msd_scan_fail(s, t.data, "kind is 0, 1 or 2");
	}
}

static msd_err read_all(struct msd_span bytes, const struct msd_ext_visitor *visitor,
			uint32_t max_reply_objects, struct msd_body *ret,
			struct msd_diag *d)
{
	struct msd_body b = {0};
	struct msd_scan s = {0};
	msd_err err = msd_scan_init(&s, bytes, visitor, d);

	s.max_reply_objects = max_reply_objects;
	if (err == MSD_OK)
		err = read_envelope(&s, &b);
	if (err == MSD_OK && s.p != s.end) {
		err = msd_scan_fail(&s, s.p, "%zu bytes too many",
				    (size_t)(s.end - s.p));
	}
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "body");
	b.n_tensors = s.n_tensors;
	b.n_handles = s.n_handles;
	b.n_results = s.n_results;
	b.n_objects = s.n_objects_kept;
	*ret = b;
	return MSD_OK;
}

msd_err msd_body_read(struct msd_span bytes, const struct msd_ext_visitor *visitor,
		      struct msd_body *ret, struct msd_diag *d)
{
	return read_all(bytes, visitor, MSD_MAX_REPLY_OBJECTS, ret, d);
}

msd_err msd_body_read_doubted(struct msd_span bytes,
			      const struct msd_ext_visitor *visitor,
			      uint32_t max_objects, struct msd_body *ret,
			      struct msd_diag *d)
{
	return read_all(bytes, visitor, max_objects, ret, d);
}

bool msd_body_error_read(struct msd_span error, struct msd_body_error *ret)
{
	const uint8_t *p = error.p, *end = error.p + error.n;
	struct msd_body_error e = {.code = MSD_INTERNAL};
	struct msd_token t;

	p += msd_token_read(p, error.n, &t);
	if (t.kind != MSD_TOK_ARRAY || t.n < 3)
		return false;
	bool has_details = t.n > 3;
	p += msd_token_read(p, (size_t)(end - p), &t);
	uint64_t code = msd_be(t.data, t.n);
	if (code != MSD_OK && code < MSD_ERR_COUNT)
		e.code = (msd_err)code;
	p += msd_token_read(p, (size_t)(end - p), &t);
	e.name = (struct msd_span){.p = t.data, .n = t.n};
	p += msd_token_read(p, (size_t)(end - p), &t);
	e.message = (struct msd_span){.p = t.data, .n = t.n};
	if (has_details)
		e.details = (struct msd_span){.p = p, .n = (size_t)(end - p)};
	*ret = e;
	return true;
}

/*
 * Write the array's head, the kind and the id directly, and reserve @n_more bytes
 * after them: every message uses this. Returns the address of those bytes; NULL if
 * out of memory.
 */
static uint8_t *begin(struct msd_buf *out, enum msd_body_kind kind, uint64_t id,
		      bool has_tail, size_t n_more)
{
	const uint64_t id_be = htobe64(id);
	uint8_t *p;

	if (!msd_buf_reserve(out, 3 + sizeof(id_be) + n_more))
		return NULL;
	p = out->p + out->n;
	p[0] = has_tail ? 0x95 : 0x94;
	p[1] = (uint8_t)kind;
	p[2] = 0xcf;
	memcpy(p + 3, &id_be, sizeof(id_be));
	out->n += 3 + sizeof(id_be) + n_more;
	return p + 3 + sizeof(id_be);
}

void msd_body_begin_request(struct msd_buf *out, uint64_t id, const char *method,
			    bool has_tail)
{
	(void)begin(out, MSD_REQUEST, id, has_tail, 0);
	msd_pack_cstr(out, method);
}

void msd_body_begin_response(struct msd_buf *out, uint64_t id, bool has_tail)
{
	(void)begin(out, MSD_RESPONSE, id, has_tail, 0);
}

void msd_body_begin_result(struct msd_buf *out, uint64_t id, bool has_tail)
{
	uint8_t *error = begin(out, MSD_RESPONSE, id, has_tail, 1);

	if (error != NULL)
		*error = 0xc0; /* nil */
}

const uint8_t msd_body_timed[MSD_BODY_TIMED_BYTES] = {0x81, 0xa7, 'e', 'x', 'e',
						      'c',  '_',  'n', 's', 0xcf};

const uint8_t msd_body_varied[MSD_BODY_VARIED_BYTES] = {
	0x82, 0xa6, 'v', 'a', 'r', 'i', 'e', 'd', 0xc3,
	0xa7, 'e',  'x', 'e', 'c', '_', 'n', 's', 0xcf};

static void put_time(struct msd_buf *out, const uint8_t *head, size_t n,
		     uint64_t exec_ns)
{
	const uint64_t ns_be = htobe64(exec_ns);
	uint8_t *p;

	if (!msd_buf_reserve(out, n + sizeof(ns_be)))
		return;
	p = out->p + out->n;
	memcpy(p, head, n);
	memcpy(p + n, &ns_be, sizeof(ns_be));
	out->n += n + sizeof(ns_be);
}

void msd_body_put_timed(struct msd_buf *out, uint64_t exec_ns)
{
	put_time(out, msd_body_timed, MSD_BODY_TIMED_BYTES, exec_ns);
}

void msd_body_put_varied(struct msd_buf *out, uint64_t exec_ns)
{
	put_time(out, msd_body_varied, MSD_BODY_VARIED_BYTES, exec_ns);
}

void msd_body_begin_notification(struct msd_buf *out, const char *method)
{
	msd_pack_array(out, 3);
	msd_pack_uint(out, MSD_NOTIFICATION);
	msd_pack_cstr(out, method);
}
