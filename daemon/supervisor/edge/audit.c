#include "daemon/supervisor/edge/audit.h"

#include "daemon/log.h"
#include "daemon/supervisor/edge/asked.h"
#include "daemon/supervisor/edge/client_peer.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/standing.h"

#define LINES_PER_SECOND 10u

static bool is_told(enum msd_method method)
{
	return method == MSD_M_MODULE_LOAD || method == MSD_M_MODULE_PULL ||
	       method == MSD_M_MODULE_ROLLBACK || method == MSD_M_MODULE_UNLOAD ||
	       method == MSD_M_SERVER_RELOAD;
}

void msd_audit(struct msd_session *s, const struct msd_in *in, enum msd_method method)
{
	struct msd_edge *e = s->edge;
	struct msd_acl_target target = {0};
	char room[MSD_PEER_TEXT_BYTES], peer[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	if (!is_told(method) ||
	    msd_asked_read(s, in, method, &target, NULL) != MSD_OK ||
	    !msd_log_rate_take(&e->audits, uv_now(e->loop), LINES_PER_SECOND,
			       &n_others))
		return;
	msd_log(MSD_LOG_INFO, "asked",
		"conn=%llu user=\"%s\" peer=\"%s\" method=%s name=\"%.*s\" others=%llu",
		(unsigned long long)s->number, msd_standing_name(s, room),
		msd_peer_id_text(s->peer->who, peer), msd_method_row(method)->name,
		(int)target.module.n, (const char *)target.module.p,
		(unsigned long long)n_others);
}
