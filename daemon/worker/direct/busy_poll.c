#include "daemon/worker/direct/busy_poll.h"

#include "daemon/segments/ledger.h"
#include "proto/base/clock.h"
#include "proto/base/proc.h"

static void on_idle(uv_idle_t *idle)
{
	(void)idle; /* an active idle handle keeps the loop awake */
}

void msd_busy_poll_init(struct msd_worker *w, uv_loop_t *loop)
{
	(void)uv_idle_init(loop, &w->spinning.idle);
}

void msd_busy_poll_allow(struct msd_worker *w, uint64_t most_us)
{
	const uint64_t most_ns = most_us < MSD_SPIN_MOST_NS / MSD_NS_PER_US
					 ? most_us * MSD_NS_PER_US
					 : MSD_SPIN_MOST_NS;

	msd_spin_init(&w->spinning.spin, most_ns,
		      most_us > 0 ? msd_proc_own_millis("") : 0);
}

static void look(struct msd_worker *w, bool looks)
{
	if (looks) {
		(void)uv_idle_start(&w->spinning.idle, on_idle);
	} else {
		(void)uv_idle_stop(&w->spinning.idle);
	}
}

static void tell(struct msd_worker *w)
{
	const struct msd_spin_count *n = &w->spinning.spin.count;

	if (w->ledger == NULL)
		return;
	msd_ledger_set(&w->ledger->spun.hits, n->hits);
	msd_ledger_set(&w->ledger->spun.misses, n->misses);
	msd_ledger_set(&w->ledger->spun.waste_ns, n->waste_ns);
}

/* Start waiting for the next request. */
static void begin(struct msd_worker *w)
{
	const bool looks = w->spinning.is_guests &&
			   msd_spin_begin(&w->spinning.spin, w->last_pause_ns) > 0;

	w->spinning.has_run = false;
	look(w, looks);
	tell(w);
}

void msd_busy_poll_wait(struct msd_worker *w)
{
	struct msd_busy_poll *s = &w->spinning;

	if (!msd_spin_is_on(&s->spin))
		return;
	if (s->has_run) {
		begin(w);
	} else if (uv_is_active((uv_handle_t *)&s->idle) &&
		   !msd_spin_goes_on(&s->spin, msd_now_ns())) {
		look(w, false);
		tell(w);
	}
}
