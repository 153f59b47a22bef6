#include "daemon/supervisor/edge/access/tls_recheck.h"

#include <string.h>

#include "daemon/log.h"
#include "daemon/loop/list.h"
#include "daemon/supervisor/edge/edge.h"
#include "daemon/supervisor/edge/session/client_peer.h"
#include "daemon/supervisor/edge/session/session.h"
#include "daemon/supervisor/tls/library.h"

#define LINES_PER_SECOND 10u /* log lines */

static void end(struct msd_session *s, const char *why)
{
	struct msd_edge *e = s->edge;
	char text[MSD_PEER_TEXT_BYTES];
	uint64_t n_others;

	if (msd_log_rate_allow(&e->handshake_failures, uv_now(e->loop),
			       LINES_PER_SECOND, &n_others)) {
		msd_log(MSD_LOG_WARN, "tls_client_untrusted",
			"peer=\"%s\" others=%llu why=\"%s\"",
			msd_peer_id_text(s->peer->who, text),
			(unsigned long long)n_others, why);
	}
	s->front->close(s, MSD_REFUSED, why);
}

uint32_t msd_tls_recheck_connections(struct msd_edge *e, const struct msd_tls *tls)
{
	uint32_t n = 0;

	MSD_LIST_EACH_SAFE (it, &e->everybody) {
		struct msd_session *s = MSD_CONTAINER_OF(it, struct msd_session, link);
		struct msd_diag d = {0};

		if (s->transport->peer != NULL &&
		    tls->library->judge(tls->context, s->transport, &d) != MSD_OK) {
			end(s, msd_diag_text(&d));
			n++;
		}
		msd_diag_finish(&d);
	}
	return n;
}
