#include "daemon/supervisor/edge/listen/accept.h"

#include <stdio.h>

#include "daemon/limits.h"
#include "daemon/log.h"
#include "daemon/loop/closer.h"
#include "daemon/supervisor/edge/access/authorization.h"
#include "daemon/supervisor/edge/session/connection_slots.h"
#include "daemon/supervisor/edge/session/frontend.h"
#include "proto/base/errno_text.h"

#define WHY_MAX MSD_CONNECTION_SLOTS_WHY_BYTES
#define REFUSALS_PER_SECOND 1u /* log lines */

/* Return why the connection @fd of @p must be rejected. MSD_REFUSAL_COUNT: it is
 * accepted. */
static enum msd_refusal find_refusal(const struct msd_edge *e,
				     const struct msd_client_peer *p, int fd,
				     char why[static WHY_MAX])
{
	const struct msd_limits *limits = e->limits;
	const bool is_operator = msd_client_peer_is_operator(p);
	const uint64_t places =
		limits->max_connections -
		(is_operator ? 0 : msd_connection_slots_reserved(limits));

	const uint64_t taken = msd_connection_slots_taken(e);

	if (taken >= limits->max_connections) {
		(void)snprintf(
			why, WHY_MAX,
			"the limit of connections is reached (--max-connections %llu)",
			(unsigned long long)limits->max_connections);
		return MSD_REFUSAL_ALL;
	}
	if (taken >= places) {
		(void)snprintf(
			why, WHY_MAX,
			"the last connections are reserved for the daemon's own user "
			"(--reserved-connections %llu of --max-connections %llu)",
			(unsigned long long)limits->reserved_connections,
			(unsigned long long)limits->max_connections);
		return MSD_REFUSAL_RESERVED;
	}
	if (!is_operator && msd_wire_is_last(e->wire, fd)) {
		(void)snprintf(why, WHY_MAX,
			       "the last descriptors are reserved for the daemon's own "
			       "user (RLIMIT_NOFILE; " MSD_RAISE_DESCRIPTORS ")");
		return MSD_REFUSAL_FDS;
	}
	if (!is_operator && !msd_connection_slots_has_one(e, p)) {
		msd_connection_slots_say_full(e, p->who, why);
		return MSD_REFUSAL_PEER;
	}
	return MSD_REFUSAL_COUNT;
}

/* True if the connection must be rejected. It is then counted and logged. */
static bool is_one_too_many(struct msd_edge *e, const struct msd_client_peer *p, int fd,
			    char why[static WHY_MAX])
{
	const enum msd_refusal cause = find_refusal(e, p, fd, why);
	char text[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	if (cause == MSD_REFUSAL_COUNT)
		return false;
	msd_counts_refused(&e->counts, cause);
	if (!msd_log_rate_allow(&e->refusals, uv_now(e->loop), REFUSALS_PER_SECOND,
				&n_others))
		return true;
	msd_log(MSD_LOG_WARN, "connection_refused",
		"peer=\"%s\" others=%llu why=\"%s\"", msd_peer_id_text(p->who, text),
		(unsigned long long)n_others, why);
	return true;
}

void msd_accept_reject(int fd)
{
	msd_closer_close_socket(fd, msd_peer_id_passer(msd_peer_id_of_socket(fd)));
}

void msd_accept_open(struct msd_edge *e, int fd, struct msd_principal who)
{
	char why[WHY_MAX];
	const struct msd_peer_id id = msd_authorization_peer(e, fd, &who);
	struct msd_client_peer *p =
		msd_client_peer_get(&e->peers, id, e->limits->max_peer_memory);

	if (p == NULL) {
		msd_counts_refused(&e->counts, MSD_REFUSAL_MEMORY);
		/* Closing passed descriptors may block. */
		msd_closer_close_socket(fd, msd_peer_id_passer(id));
		return;
	}
	struct msd_transport transport = msd_transport_of_socket(fd, who.is_local);

	transport.passer = msd_peer_id_passer(p->who);
	if (is_one_too_many(e, p, fd, why)) {
		msd_frontend_refuse(e, transport, who, p, why);
	} else {
		msd_frontend_open(e, transport, who, p);
	}
	msd_client_peer_unref(p);
}

struct msd_client_peer *msd_accept_reserve_slot(struct msd_edge *e, int fd,
						const struct msd_principal *who)
{
	char why[WHY_MAX];
	struct msd_client_peer *p =
		msd_client_peer_get(&e->peers, msd_authorization_peer(e, fd, who),
				    e->limits->max_peer_memory);

	if (p == NULL) {
		msd_counts_refused(&e->counts, MSD_REFUSAL_MEMORY);
		return NULL;
	}
	if (is_one_too_many(e, p, fd, why)) {
		msd_client_peer_unref(p);
		return NULL;
	}
	e->n_sessions++;
	p->n_connections++;
	return p;
}

void msd_accept_release_slot(struct msd_edge *e, struct msd_client_peer *p)
{
	e->n_sessions--;
	p->n_connections--;
}
