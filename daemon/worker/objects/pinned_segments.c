#include "daemon/worker/objects/pinned_segments.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/pinned.h"

/* True at debug level: to diagnose slow copies, every range is logged. */
static bool wants_all(void)
{
	const char *level = getenv("MODSERD_LOG");

	return level != NULL && strcmp(level, "debug") == 0;
}

/* Only the first refused range is logged, because the rest usually have the same
 * cause. */
static void pin(struct msd_worker *w, uint8_t *p, uint64_t bytes)
{
	struct msd_diag d = {0};

	if (p == NULL)
		return;
	if (msd_pinned_add(p, bytes, &d)) {
		if (wants_all()) {
			(void)fprintf(stderr, "modserd-worker: pinned %llu bytes\n",
				      (unsigned long long)bytes);
		}
	} else if (!w->has_unpinned || wants_all()) {
		w->has_unpinned = true;
		(void)fprintf(stderr,
			      "modserd-worker: %llu bytes of a segment cannot be "
			      "pinned, so copies of them are slower: %s\n",
			      (unsigned long long)bytes, msd_diag_text(&d));
	}
	msd_diag_finish(&d);
}

void msd_pinned_segments_start(struct msd_worker *w)
{
	const struct msd_dev *dev = msd_dev_peek(msd_loaded_device(w->module));

	if (dev == NULL || dev->ops->pin == NULL)
		return;
	w->has_pins = true;
	MSD_LIST_EACH (it, &w->peers) {
		struct msd_peer *peer = MSD_CONTAINER_OF(it, struct msd_peer, link);
		uint64_t bytes;
		peer->out.pool.is_pinned = true;
		for (uint32_t i = 0; i < peer->in.n; i++)
			pin(w, peer->in.maps[i].p, peer->in.maps[i].bytes);
		for (uint32_t i = 0; i < peer->out.pool.n_segments; i++) {
			uint8_t *p =
				msd_segpool_map(&peer->out.pool, (uint16_t)i, &bytes);
			pin(w, p, bytes);
		}
	}
}

void msd_pinned_segments_add(struct msd_peer *peer, bool is_in, uint16_t index,
			     uint64_t bytes)
{
	if (!peer->worker->has_pins)
		return;
	pin(peer->worker,
	    is_in ? msd_segmap_at(&peer->in, index, 0, bytes)
		  : msd_segpool_map(&peer->out.pool, index, &bytes),
	    bytes);
}

void msd_pinned_segments_remove(struct msd_peer *peer, bool is_in, uint16_t index)
{
	uint64_t bytes;

	if (!peer->worker->has_pins)
		return;
	msd_pinned_remove(is_in ? msd_segmap_at(&peer->in, index, 0, 0)
				: msd_segpool_map(&peer->out.pool, index, &bytes));
}

void msd_pinned_segments_finish(struct msd_peer *peer)
{
	for (uint32_t i = 0; i < peer->in.n; i++)
		msd_pinned_segments_remove(peer, true, (uint16_t)i);
	for (uint32_t i = 0; i < peer->out.pool.n_segments; i++)
		msd_pinned_segments_remove(peer, false, (uint16_t)i);
}
