#include "daemon/supervisor/http/conn/http_conn_body.h"

#include <stdio.h>
#include <string.h>

#include "daemon/http/infer_json.h"
#include "daemon/limits.h"
#include "daemon/supervisor/edge/edge.h"

#define MAX_BODY (1u << 20)          /* bytes of a request that is no infer */
#define MAX_CHUNKED_BODY (64u << 20) /* for a chunked request with binary tensors */

/* At most @most, and at most 1/@n of the connection's memory limit. */
static uint64_t share(const struct msd_http_conn *v, unsigned n, uint64_t most)
{
	const uint64_t room = msd_account_limit(&v->caller.session.client.account) / n;

	const uint64_t least = room < MAX_BODY ? MAX_BODY : room;

	return least < most ? least : most;
}

/* Chunks are collected in a buffer that doubles its size. */
static uint64_t most_in_chunks(const struct msd_http_conn *v)
{
	return share(v, 2, MAX_CHUNKED_BODY);
}

/* The parsed form takes up to three times the memory of the text. */
static uint64_t most_json(const struct msd_http_conn *v)
{
	return share(v, 4, v->caller.session.edge->limits->max_json);
}

/* Without chunks, tensors are read directly into the module's memory, like those of
 * frames. */
static uint64_t most_in_place(const struct msd_http_conn *v)
{
	return most_json(v) + v->caller.session.edge->limits->max_payload;
}

static bool is_infer(const struct msd_http_request *q)
{
	static const char tail[] = "/infer";
	const size_t n = strlen(tail);

	return q->method == MSD_HTTP_POST && q->target.n > n &&
	       memcmp(q->target.p + q->target.n - n, tail, n) == 0;
}

/* A repeated head is already parsed. */
static void read_head(struct msd_http_conn *v)
{
	const struct msd_http_request *q = &v->reader.request;
	const struct msd_span field = q->fields[MSD_HTTP_F_INFERENCE_HEADER];

	v->part_bytes = 0;
	v->is_infer = is_infer(q);
	v->brings_tensors = field.p != NULL && v->is_infer;
	if (v->brings_tensors && !q->is_chunked) { /* a chunked one is rejected */
		v->brings_tensors =
			msd_infer_text_bytes(field, most_json(v), &v->part_bytes) &&
			v->part_bytes > 0;
	}
}

void msd_http_conn_bound_body(struct msd_http_conn *v)
{
	struct msd_http_reader *r = &v->reader;

	if (!r->request.is_again)
		read_head(v);
	r->max_body = v->is_infer ? most_json(v) : MAX_BODY;
	if (!v->brings_tensors)
		return;
	r->max_body = r->request.is_chunked ? most_in_chunks(v) : most_in_place(v);
	r->part_bytes = v->part_bytes;
	r->rest = &v->caller.inputs;
}

void msd_http_conn_say_bound(const struct msd_http_conn *v, char *ret, size_t n)
{
	const struct msd_http_request *q = &v->reader.request;
	const unsigned long long limit = v->reader.max_body;
	int used =
		q->body_bytes > limit
			? snprintf(ret, n, "the body has %llu bytes, the limit is %llu",
				   (unsigned long long)q->body_bytes, limit)
			: snprintf(ret, n, "the body is over the limit of %llu bytes",
				   limit);

	if (q->is_chunked && v->brings_tensors && limit < MAX_CHUNKED_BODY) {
		used += snprintf(ret + used, n - (size_t)used,
				 ", half of --max-connection-memory or of its share of "
				 "--max-total-memory");
	} else if (v->is_infer && !v->brings_tensors) {
		used += snprintf(ret + used, n - (size_t)used, " of --max-json%s",
				 limit < v->caller.session.edge->limits->max_json
					 ? " (a quarter of --max-connection-memory)"
					 : "");
	}
	if (v->is_infer && limit < most_in_place(v)) {
		(void)snprintf(ret + used, n - (size_t)used,
			       "; with tensors as bytes behind its JSON "
			       "(Inference-Header-Content-Length), and not in chunks, "
			       "it is %llu",
			       (unsigned long long)most_in_place(v));
	}
}
