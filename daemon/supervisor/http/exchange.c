#include "daemon/supervisor/http/exchange.h"

#include "proto/base/json.h"

#define RETRY_AFTER_S 1u /* default */

void msd_http_exchange_say(struct msd_http_exchange *a, unsigned status,
			   const char *text)
{
	a->reply.status = status;
	a->reply.type = MSD_HTTP_TEXT;
	a->text = msd_span_of(text);
}

void msd_http_exchange_say_json(struct msd_http_exchange *a, unsigned status)
{
	a->reply.status = status;
	a->reply.type = MSD_HTTP_JSON;
}

static bool is_passing(unsigned status)
{
	return status == 503 || status == 429;
}

static unsigned retry_after_s(const struct msd_diag *d)
{
	const uint64_t s = (d->retry_after_ms + 999) / 1000;

	return s == 0 ? RETRY_AFTER_S : s < UINT32_MAX ? (unsigned)s : UINT32_MAX;
}

void msd_http_exchange_fail(struct msd_http_exchange *a, unsigned status,
			    struct msd_diag *d)
{
	msd_http_exchange_say_json(a, status);
	a->reply.retry_after_s = is_passing(status) ? retry_after_s(d) : 0;
	a->body.n = 0;
	msd_buf_printf(&a->body, "{\"error\":");
	msd_json_cstr(&a->body, msd_diag_text(d));
	if (d->retry_after_ms > 0) {
		msd_buf_printf(&a->body, ",\"retry_after_ms\":%llu",
			       (unsigned long long)d->retry_after_ms);
	}
	msd_buf_printf(&a->body, "}\n");
	msd_diag_finish(d);
}

unsigned msd_http_exchange_status(msd_err err)
{
	static const struct {
		msd_err err;
		unsigned status;
	} rows[] = {
		{MSD_OK, 200},          {MSD_NOT_FOUND, 404},     {MSD_REFUSED, 403},
		{MSD_TOO_LARGE, 413},   {MSD_UNSUPPORTED, 501},   {MSD_INTERNAL, 500},
		{MSD_CALL_FAILED, 500}, {MSD_DEADLINE, 504},      {MSD_NOMEM, 503},
		{MSD_NOT_READY, 503},   {MSD_WORKER_LOST, 502},   {MSD_GPU_FAULT, 502},
		{MSD_QUARANTINED, 503}, {MSD_MODULE_FAILED, 503}, {MSD_NO_SPACE, 503},
		{MSD_BUSY, 503},        {MSD_DRAINING, 503}};

	for (unsigned i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (rows[i].err == err)
			return rows[i].status;
	}
	return 400;
}
