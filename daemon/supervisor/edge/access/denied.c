#include "daemon/supervisor/edge/access/denied.h"

#include <stdio.h>
#include <time.h>

#include "daemon/log.h"
#include "daemon/supervisor/edge/edge.h"

#define LINES_PER_SECOND 10u

void msd_denied_note(struct msd_session *s, const struct msd_grant *g,
		     enum msd_method method, const struct msd_acl_target *target)
{
	struct msd_edge *e = s->edge;
	struct msd_denial it = {.times = 1,
				.connection = s->number,
				.method = method,
				.first_s = (uint64_t)time(NULL)};
	char peer[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	it.last_s = it.first_s;
	(void)snprintf(it.user, sizeof(it.user), "%s",
		       msd_grant_name(e->rights.acl, g));
	(void)snprintf(it.peer, sizeof(it.peer), "%s",
		       msd_peer_id_text(s->client.peer, peer));
	msd_denial_put_name(it.name, target);
	msd_denials_add(&e->rights.denials, &it);
	if (msd_log_rate_allow(&e->denied, uv_now(e->loop), LINES_PER_SECOND,
			       &n_others)) {
		msd_log(MSD_LOG_WARN, "request_denied",
			"conn=%llu user=%s peer=\"%s\" method=%s name=\"%s\" "
			"others=%llu",
			(unsigned long long)s->number, it.user, it.peer,
			msd_method_row(method)->name, it.name,
			(unsigned long long)n_others);
	}
}
