#include "daemon/supervisor/http/page/scrape.h"

#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/page/chunked_answer.h"

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
