#include "daemon/supervisor/edge/access/audit.h"

#include <stdio.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/request_target.h"
#include "daemon/supervisor/edge/session/session.h"

#define LINES_PER_SECOND 10u

static bool is_told(enum msd_method method)
{
	return method == MSD_M_MODULE_LOAD || method == MSD_M_MODULE_PULL ||
	       method == MSD_M_MODULE_ROLLBACK || method == MSD_M_MODULE_SLEEP ||
	       method == MSD_M_MODULE_UNLOAD || method == MSD_M_SERVER_RELOAD ||
	       method == MSD_M_STORE_COLLECT || method == MSD_M_STORE_PIN;
}

static bool take(struct msd_session *s, struct msd_log_rate *rate, uint64_t *ret)
{
	return msd_log_rate_allow(rate, uv_now(s->edge->loop), LINES_PER_SECOND, ret);
}

/* Write a line with the identity of @s. @more describes the action and begins with a
 * space. */
static void write_line(const struct msd_session *s, const char *event, const char *more,
		       uint64_t n_others)
{
	char room[MSD_PEER_TEXT_BYTES], peer[MSD_PEER_TEXT_BYTES];

	msd_log(MSD_LOG_INFO, event, "conn=%llu user=\"%s\" peer=\"%s\"%s others=%llu",
		(unsigned long long)s->number, msd_authorization_name(s, room),
		msd_peer_id_text(s->peer->who, peer), more,
		(unsigned long long)n_others);
}

static const char *way_of(const struct msd_session *s)
{
	return s->conn->transport.peer != NULL ? "tls"
	       : s->principal.is_local         ? "unix"
					       : "tcp";
}

void msd_audit_connected(struct msd_session *s, bool is_http)
{
	char more[32];
	uint64_t n_others;

	if (s->edge->rights.acl == NULL) {
		msd_log(MSD_LOG_DEBUG, "connection_open", "conn=%llu way=%s http=%d",
			(unsigned long long)s->number, way_of(s), is_http);
	} else if (take(s, &s->edge->connects, &n_others)) {
		(void)snprintf(more, sizeof(more), " way=%s http=%d", way_of(s),
			       is_http);
		write_line(s, "connection_open", more, n_others);
	}
}

void msd_audit_shown(struct msd_session *s)
{
	uint64_t n_others;

	if (s->edge->rights.acl != NULL && take(s, &s->edge->connects, &n_others))
		write_line(s, "session_token", "", n_others);
}

void msd_audit_asked(struct msd_session *s, enum msd_method method,
		     struct msd_span module)
{
	char more[64 + MSD_DENIAL_NAME_BYTES], name[MSD_DENIAL_NAME_BYTES];
	const struct msd_acl_target target = {.module = module};
	uint64_t n_others;

	if (!is_told(method) || !take(s, &s->edge->audits, &n_others))
		return;
	msd_denial_put_name(name, &target);
	(void)snprintf(more, sizeof(more), " method=%s name=\"%s\"",
		       msd_method_row(method)->name, name);
	write_line(s, "request_audit", more, n_others);
}

void msd_audit_request(struct msd_session *s, const struct msd_in *in,
		       enum msd_method method)
{
	struct msd_acl_target target = {0};

	if (is_told(method) &&
	    msd_request_target_read(s, in, method, &target, NULL) == MSD_OK)
		msd_audit_asked(s, method, target.module);
}

void msd_audit_killed(struct msd_session *by, const struct msd_session *killed)
{
	char more[64 + 2 * MSD_PEER_TEXT_BYTES], room[MSD_PEER_TEXT_BYTES],
		peer[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	if (!take(by, &by->edge->audits, &n_others))
		return;
	(void)snprintf(more, sizeof(more), " killed=%llu whose=\"%s\" from=\"%s\"",
		       (unsigned long long)killed->number,
		       msd_authorization_name(killed, room),
		       msd_peer_id_text(killed->peer->who, peer));
	write_line(by, "connection_kill", more, n_others);
}
