#include "daemon/limits.h"
#include "daemon/supervisor/fetch/fetcher.h"
#include "daemon/supervisor/request/fair_share.h"

msd_err msd_fetcher_has_place(const struct msd_fetcher *fetcher, struct msd_peer_id who,
			      struct msd_diag *d)
{
	char text[MSD_PEER_TEXT_BYTES];
	uint32_t own = 0;

	MSD_LIST_EACH (it, &fetcher->fetches) {
		own += msd_peer_id_is(MSD_CONTAINER_OF(it, struct msd_fetch, link)->who,
				      who);
	}
	if (who.kind == MSD_PEER_NOBODY ||
	    own < msd_fair_share_of_few(fetcher->limits->max_pulls,
					fetcher->n_fetches - own))
		return MSD_OK;
	return msd_diag_set(d, MSD_BUSY,
			    "%s: %u pulls run already, which is its share (max-pulls)",
			    msd_peer_id_text(who, text), own);
}
