#include "daemon/wire/taker.h"

#include "daemon/wire/account.h"
#include "daemon/wire/conn.h"

bool msd_taker_is_passed_over(struct msd_taker *t, struct msd_wire *w)
{
	const bool waits = !msd_list_is_empty(&t->link);

	if (t->account == NULL ||
	    msd_account_has_turn(t->account, w->count.turns, MSD_CONN_TURN_SHARE,
				 MSD_CONN_SHARE_US * 1000u)) {
		if (waits)
			msd_list_remove(&t->link);
		return false;
	}
	if (!waits || msd_list_first(&w->waiting) == &t->link) {
		msd_list_remove(&t->link);
		msd_list_append(&w->passed_over, &t->link);
	}
	return true;
}

uint64_t msd_taker_begins(const struct msd_taker *t, struct msd_wire *w)
{
	if (t->account == NULL || !msd_account_is_behind(t->account))
		return 0;
	return msd_wire_now_ns(w);
}
