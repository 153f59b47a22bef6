/*
 * Happy path: the path is split, and the first row that matches path and method gives
 * the required right and the handler. Failures: no row has the path, or none has the
 * method. Without the right, the reply is the same whether the resource exists or
 * not.
 */
#include "daemon/supervisor/http/route.h"

#include <string.h>

#include "daemon/http/reader.h"
#include "daemon/http/site.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/http/bearer.h"
#include "daemon/supervisor/http/http_session.h"
#include "daemon/supervisor/http/infer/infer.h"
#include "daemon/supervisor/http/models/control.h"
#include "daemon/supervisor/http/models/health.h"
#include "daemon/supervisor/http/models/model.h"
#include "daemon/supervisor/http/models/model_stats.h"
#include "daemon/supervisor/http/models/repository.h"
#include "daemon/supervisor/http/page/page.h"

struct msd_route {
	const char *path; /* without its first slash; a star matches any name */
	enum msd_http_method method;
	enum msd_method right; /* method whose right it needs; PING: none, or the
				  handler checks */
	void (*answer)(struct msd_http_exchange *a);
};

/* The most frequent routes are first. */
static const struct msd_route routes[] = {
	{"v2/models/*/infer", MSD_HTTP_POST, MSD_M_PING, msd_infer},
	{"livez", MSD_HTTP_GET, MSD_M_PING, msd_health_live},
	{"", MSD_HTTP_GET, MSD_M_PING, msd_page},
	{"status", MSD_HTTP_GET, MSD_M_MODULE_LIST, msd_status},
	{"status/*", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE, msd_page_module},
	{"readyz", MSD_HTTP_GET, MSD_M_PING, msd_health_ready},
	{"readyz/*", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE, msd_health_module},
	{"version", MSD_HTTP_GET, MSD_M_PING, msd_health_version},
	{"metrics", MSD_HTTP_GET, MSD_M_SERVER_METRICS, msd_scrape},
	{"v2", MSD_HTTP_GET, MSD_M_PING, msd_repository_server},
	{"v2/health/live", MSD_HTTP_GET, MSD_M_PING, msd_repository_live},
	{"v2/health/ready", MSD_HTTP_GET, MSD_M_PING, msd_repository_ready},
	{"v2/models/stats", MSD_HTTP_GET, MSD_M_MODULE_LIST, msd_model_stats_all},
	{"v2/models/*", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE, msd_repository_model},
	{"v2/models/*/ready", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE,
	 msd_repository_model_ready},
	{"v2/models/*/versions/*", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE,
	 msd_repository_model},
	{"v2/models/*/versions/*/ready", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE,
	 msd_repository_model_ready},
	{"v2/models/*/config", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE,
	 msd_repository_model_config},
	{"v2/models/*/versions/*/config", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE,
	 msd_repository_model_config},
	{"v2/models/*/stats", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE, msd_model_stats},
	{"v2/models/*/versions/*/stats", MSD_HTTP_GET, MSD_M_MODULE_DESCRIBE,
	 msd_model_stats},
	{"v2/models/*/versions/*/infer", MSD_HTTP_POST, MSD_M_PING, msd_infer},
	{"v2/repository/models/*/load", MSD_HTTP_POST, MSD_M_MODULE_LOAD,
	 msd_control_load},
	{"v2/repository/models/*/unload", MSD_HTTP_POST, MSD_M_MODULE_UNLOAD,
	 msd_control_unload},
	{"v2/repository/index", MSD_HTTP_POST, MSD_M_MODULE_LIST, msd_repository_index},
};
#define N_ROUTES (sizeof(routes) / sizeof(routes[0]))

/* The rest of @path after its first segment if that equals @have; otherwise NULL. An
 * escaped slash in @have does not end a segment. */
static const char *pass(const char *path, struct msd_span have)
{
	if (have.n == 0 || strncmp(path, (const char *)have.p, have.n) != 0 ||
	    memchr(have.p, '/', have.n) != NULL)
		return NULL;
	path += have.n;
	return *path == '/' ? path + 1 : *path == '\0' ? path : NULL;
}

static bool is_match(const struct msd_route *r, const struct msd_http_path *p,
		     struct msd_span names[MSD_HTTP_EXCHANGE_NAMES])
{
	const char *path = r->path;
	unsigned n_names = 0;

	names[0] = names[1] = (struct msd_span){0}; /* an earlier row may have set it */
	for (unsigned i = 0; i < p->n && path != NULL; i++) {
		const struct msd_span have = p->segments[i];
		if (*path == '*' && have.n > 0) {
			names[n_names++] = have;
			path += path[1] == '/' ? 2 : 1;
		} else {
			path = pass(path, have);
		}
	}
	return path != NULL && *path == '\0';
}

static void fail(struct msd_http_exchange *a, unsigned status, const char *text)
{
	struct msd_diag d = {0};

	(void)msd_diag_set(&d, MSD_BAD_REQUEST, "%s", text);
	msd_http_exchange_fail(a, status, &d);
}

/*
 * A web page in a local browser can reach a loopback listener. With a rights file it
 * has only the rights of anonymous clients. Returns false if it was answered with an
 * error.
 */
static bool may_ask(struct msd_http_exchange *a, const struct msd_route_match *w)
{
	const struct msd_span origin = a->request->fields[MSD_HTTP_F_ORIGIN];
	const struct msd_span host = a->request->fields[MSD_HTTP_F_HOST];
	const bool is_loopback = msd_peer_id_is_loopback(a->caller->session.peer->who);

	if (origin.p != NULL && !msd_site_is_own(origin, host)) {
		fail(a, 403, "Origin: requests from pages of other sites are refused");
		return false;
	}
	if (w->may_move && is_loopback && a->edge->rights.acl == NULL) {
		fail(a, 403,
		     "Host: over loopback only an address, localhost or a name without "
		     "dots is accepted, because a web page could use any other name. "
		     "Let a proxy send Host: localhost, or give rights with --acl");
		return false;
	}
	return true;
}

static void find_route(struct msd_route_match *w, enum msd_http_method asked)
{
	w->route = NULL;
	w->has_method = false;
	for (unsigned i = 0; i < N_ROUTES && !w->has_method; i++) {
		if (!is_match(&routes[i], &w->path, w->names))
			continue;
		w->route = &routes[i];
		w->has_method = routes[i].method == asked;
	}
}

/* The route of the request of @a; that of the last request if the head is the same. */
static const struct msd_route_match *find_course(const struct msd_http_exchange *a)
{
	const struct msd_http_request *q = a->request;
	struct msd_route_match *w = &a->caller->course;

	if (q->is_again)
		return w;
	w->is_path = msd_http_path_read(q->target, &w->path);
	w->may_move = msd_site_may_move(q->fields[MSD_HTTP_F_HOST]);
	if (w->is_path) {
		find_route(w,
			   q->method == MSD_HTTP_HEAD_ONLY ? MSD_HTTP_GET : q->method);
	}
	return w;
}

static void answer(struct msd_http_exchange *a, const struct msd_route_match *w)
{
	if (w->route == NULL) {
		fail(a, 404,
		     "no such path: use /livez, /readyz, /metrics, /version or /v2");
	} else if (!w->has_method) {
		const bool is_get = w->route->method == MSD_HTTP_GET;

		fail(a, 405, is_get ? "this path needs GET" : "this path needs POST");
		a->reply.allow = is_get ? "GET, HEAD" : "POST";
	} else {
		memcpy(a->names, w->names, sizeof(a->names));
		if (msd_bearer_may(a, w->route->right,
				   msd_model_module_name(a->names[0])))
			w->route->answer(a);
	}
}

void msd_route_write(struct msd_http_exchange *a, bool closes, struct msd_buf *out)
{
	a->reply.body =
		a->body.n > 0 ? (struct msd_span){a->body.p, a->body.n} : a->text;
	a->reply.is_head = a->request->method == MSD_HTTP_HEAD_ONLY;
	a->reply.is_old = a->request->is_old;
	a->reply.closes = closes;
	out->bad |= a->body.bad;
	msd_http_reply_write(out, &a->reply);
	msd_buf_finish(&a->body);
}

void msd_route_answer(struct msd_http_exchange *a, bool closes, struct msd_buf *out)
{
	const struct msd_route_match *w = find_course(a);

	if (!w->is_path) {
		fail(a, 400, "the path is malformed: expected /, names and escapes");
	} else if (may_ask(a, w)) {
		answer(a, w);
	}
	if (!a->is_later)
		msd_route_write(a, closes, out);
}

void msd_route_refuse(struct msd_http_exchange *a, unsigned status, const char *why,
		      struct msd_buf *out)
{
	fail(a, status, why);
	msd_route_write(a, true, out);
}
