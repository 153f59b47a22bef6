#include "daemon/supervisor/edge/session/client_peer.h"

#include <stdlib.h>
#include <unistd.h>

bool msd_client_peer_is_operator(const struct msd_client_peer *p)
{
	return p->who.kind == MSD_PEER_USER &&
	       (p->who.value == 0 || p->who.value == geteuid());
}

void msd_client_peers_init(struct msd_client_peers *ps, uint64_t max_bytes)
{
	msd_list_init(&ps->all);
	msd_account_open(&ps->account, NULL, max_bytes);
}

struct msd_client_peer *msd_client_peer_get(struct msd_client_peers *ps,
					    struct msd_peer_id who, uint64_t max_bytes)
{
	MSD_LIST_EACH (it, &ps->all) {
		struct msd_client_peer *p =
			MSD_CONTAINER_OF(it, struct msd_client_peer, link);
		if (msd_peer_id_is(p->who, who))
			return msd_client_peer_ref(p);
	}
	struct msd_client_peer *p = calloc(1, sizeof(*p));
	if (p == NULL)
		return NULL;
	p->who = who;
	msd_account_open(&p->account, &ps->account, max_bytes);
	msd_list_append(&ps->all, &p->link);
	return msd_client_peer_ref(p);
}

struct msd_client_peer *msd_client_peer_ref(struct msd_client_peer *p)
{
	p->n_refs++;
	return p;
}

void msd_client_peer_unref(struct msd_client_peer *p)
{
	if (--p->n_refs > 0)
		return;
	msd_list_remove(&p->link);
	msd_account_close(&p->account);
	free(p);
}
