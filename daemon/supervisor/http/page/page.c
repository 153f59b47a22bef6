/*
 * Happy path: the handlers of the methods write msgpack, as for frames, and it is
 * converted to JSON. The page's policy contains the digests of its script and style,
 * so only these may run. Failures: the facts of a module are omitted if writing them
 * would take long.
 */
#include "daemon/supervisor/http/page/page.h"

#include <math.h>
#include <nettle/base64.h>
#include <stdio.h>
#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/methods/devices.h"
#include "daemon/supervisor/edge/methods/method.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/page/chunked_answer.h"
#include "daemon/supervisor/http/page/history.h"
#include "daemon/supervisor/http/page/page_bytes.h"
#include "proto/base/json.h"
#include "proto/unpack.h"
#include "store/digest.h"

#define MAX_FACTS 65536u /* bytes of msgpack of a module's facts */
#define DIGEST_TEXT (BASE64_ENCODE_RAW_LENGTH(MSD_DIGEST_BYTES) + 1)

static void put_object(struct msd_buf *b, const msgpack_object *o);

static void put_array(struct msd_buf *b, const msgpack_object_array *a)
{
	for (uint32_t i = 0; i < a->size; i++) {
		msd_buf_put_u8(b, i > 0 ? ',' : '[');
		put_object(b, &a->ptr[i]);
	}
	msd_buf_printf(b, a->size > 0 ? "]" : "[]");
}

/* Its keys are text. */
static void put_map(struct msd_buf *b, const msgpack_object_map *m)
{
	for (uint32_t i = 0; i < m->size; i++) {
		msd_buf_put_u8(b, i > 0 ? ',' : '{');
		put_object(b, &m->ptr[i].key);
		msd_buf_put_u8(b, ':');
		put_object(b, &m->ptr[i].val);
	}
	msd_buf_printf(b, m->size > 0 ? "}" : "{}");
}

/* The depth is limited by the scan before msd_unpack(). */
static void put_object(struct msd_buf *b, const msgpack_object *o)
{
	if (o->type == MSGPACK_OBJECT_BOOLEAN) {
		msd_buf_printf(b, o->via.boolean ? "true" : "false");
	} else if (o->type == MSGPACK_OBJECT_POSITIVE_INTEGER) {
		msd_buf_printf(b, "%llu", (unsigned long long)o->via.u64);
	} else if (o->type == MSGPACK_OBJECT_NEGATIVE_INTEGER) {
		msd_buf_printf(b, "%lld", (long long)o->via.i64);
	} else if (o->type == MSGPACK_OBJECT_FLOAT && isfinite(o->via.f64)) {
		msd_buf_printf(b, "%.17g", o->via.f64);
	} else if (o->type == MSGPACK_OBJECT_STR) {
		msd_json_str(b, (struct msd_span){(const uint8_t *)o->via.str.ptr,
						  o->via.str.size});
	} else if (o->type == MSGPACK_OBJECT_ARRAY) {
		put_array(b, &o->via.array);
	} else if (o->type == MSGPACK_OBJECT_MAP) {
		put_map(b, &o->via.map);
	} else {
		msd_buf_printf(b, "null");
	}
}

msd_err msd_page_put_packed(struct msd_http_exchange *a, const struct msd_buf *packed,
			    struct msd_diag *d)
{
	const msgpack_object *o;
	msd_err err = msd_unpack(a->edge->unpack,
				 (struct msd_span){packed->p, packed->n}, &o, d);

	if (err == MSD_OK)
		put_object(&a->body, o);
	return err;
}

static void fail(struct msd_http_exchange *a, msd_err err, struct msd_diag *d)
{
	msd_http_exchange_fail(a, msd_http_exchange_status(err), d);
}

/* The facts of a module are the rest of the map; if they are large, the page omits
 * them. */
static msd_err put_module(struct msd_http_exchange *a, struct msd_method_call *call,
			  struct msd_diag *d)
{
	msd_buf_printf(&a->body, ",\"module\":");
	if (call->shared_part.n > MAX_FACTS) {
		msd_buf_printf(&a->body, "null,\"why\":\"the description is too long "
					 "for this page: use modser show\"");
		return MSD_OK;
	}
	if (call->shared != NULL)
		msd_buf_put(&call->result, call->shared_part.p, call->shared_part.n);
	return msd_page_put_packed(a, &call->result, d);
}

void msd_page_module(struct msd_http_exchange *a)
{
	struct msd_in in = {.body = {.kind = MSD_REQUEST}};
	msgpack_object name = {.type = MSGPACK_OBJECT_STR,
			       .via.str = {.size = (uint32_t)a->names[0].n,
					   .ptr = (const char *)a->names[0].p}};
	const msgpack_object params = {.type = MSGPACK_OBJECT_ARRAY,
				       .via.array = {.size = 1, .ptr = &name}};
	struct msd_method_call call = {.session = &a->caller->session,
				       .in = &in,
				       .method = MSD_M_MODULE_DESCRIBE,
				       .params = &params};
	struct msd_diag d = {0};
	msd_err err = msd_method_describe(&call, &d);

	if (err == MSD_OK) {
		msd_http_exchange_say_json(a, 200);
		msd_buf_printf(&a->body, "{\"history\":");
		msd_history_write(a->caller->history, a->names[0], &a->body);
		err = put_module(a, &call, &d);
		msd_buf_printf(&a->body, "}\n");
	}
	if (err != MSD_OK)
		fail(a, err, &d);
	msd_buf_finish(&call.result);
}

/* The digest of the text between @begin and @end in the page, in the format of a
 * policy. */
static void digest_part(const char *begin, const char *end, char ret[DIGEST_TEXT])
{
	const uint8_t *page = msd_page_bytes;
	const uint8_t *from = memmem(page, msd_page_n_bytes, begin, strlen(begin));
	struct msd_digest digest;

	from += strlen(begin);
	const size_t left = msd_page_n_bytes - (size_t)(from - page);
	const uint8_t *to = memmem(from, left, end, strlen(end));
	msd_digest_of((struct msd_span){from, (size_t)(to - from)}, &digest);
	base64_encode_raw(ret, MSD_DIGEST_BYTES, digest.b);
	ret[DIGEST_TEXT - 1] = '\0';
}

void msd_page(struct msd_http_exchange *a)
{
	static char policy[512];

	if (policy[0] == '\0') {
		char style[DIGEST_TEXT], script[DIGEST_TEXT];
		digest_part("<style>", "</style>", style);
		digest_part("<script>", "</script>", script);
		(void)snprintf(policy, sizeof(policy),
			       "default-src 'none'; style-src 'sha256-%s'; "
			       "script-src 'sha256-%s'; connect-src 'self'; "
			       "base-uri 'none'; form-action 'none'; "
			       "frame-ancestors 'none'",
			       style, script);
	}
	a->reply.status = 200;
	a->reply.type = "text/html; charset=utf-8";
	a->reply.policy = policy;
	msd_buf_put(&a->body, msd_page_bytes, msd_page_n_bytes);
}

static bool sees(void *who, const char *module)
{
	return msd_bearer_sees(who, module);
}

/* True if OpenMetrics is listed at all: a client that lists both formats accepts
 * either. */
static bool wants_openmetrics(struct msd_span accept)
{
	static const char type[] = "application/openmetrics-text";

	return accept.n > 0 && memmem(accept.p, accept.n, type, strlen(type)) != NULL;
}

static bool go_on(struct msd_http_exchange *a, struct msd_chunked_answer_position *at)
{
	const struct msd_view view = {.sees = sees, .who = a};

	return msd_metrics_go_on(a->edge, &view, &at->metrics, &a->body,
				 at->is_openmetrics);
}

void msd_scrape(struct msd_http_exchange *a)
{
	const bool is_open = wants_openmetrics(a->request->fields[MSD_HTTP_F_ACCEPT]);

	a->reply.status = 200;
	a->reply.type = is_open ? MSD_METRICS_TYPE_OPEN : MSD_METRICS_TYPE;
	msd_chunked_answer_begin(
		a, go_on,
		(struct msd_chunked_answer_position){.is_openmetrics = is_open});
}

static void begin(struct msd_http_exchange *a)
{
	struct msd_buf info = {0};
	struct msd_diag d = {0};

	msd_buf_printf(&a->body, "{\"server\":");
	a->edge->put_info(a->edge, &info);
	a->body.bad |= msd_page_put_packed(a, &info, &d) != MSD_OK;
	msd_buf_printf(&a->body, ",\"modules\":[");
	msd_buf_finish(&info);
	msd_diag_finish(&d);
}

static void put(struct msd_http_exchange *a, struct msd_module_listing_position *at,
		struct msd_module *m)
{
	struct msd_method_call call = {.session = &a->caller->session,
				       .method = MSD_M_MODULE_LIST};
	struct msd_diag d = {0};

	msd_method_list_one(&call, m, &at->rss_looks);
	a->body.bad |= msd_page_put_packed(a, &call.result, &d) != MSD_OK;
	msd_buf_finish(&call.result);
	msd_diag_finish(&d);
}

const struct msd_module_listing msd_status_roll = {begin, put, "]}\n"};

void msd_status(struct msd_http_exchange *a)
{
	if (msd_bearer_authorize(a, MSD_M_MODULE_LIST) != MSD_OK)
		return;
	msd_http_exchange_say_json(a, 200);
	(void)msd_devices_look(a->edge->devices); /* the next request gets the result */
	msd_chunked_answer_roll(a, &msd_status_roll, false);
}
