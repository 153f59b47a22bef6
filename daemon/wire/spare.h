#ifndef MSD_WIRE_SPARE_H
#define MSD_WIRE_SPARE_H
/*
 * Objects of one kind that are over, kept for the next ones: every call makes some, and
 * a pipeline frees them in bursts that run over the allocator's own caches. The last
 * one kept is the first one taken, while it still lies in the processor's cache. One
 * loop and one thread to a process, so there is no lock.
 *
 * None is kept with AddressSanitizer, which would take a stale one for a living one.
 */
#include "daemon/wire/list.h"

#define MSD_SPARE_MAX 128u

/* All zeros: none. */
struct msd_spare {
	struct msd_list *first; /* links of the objects; `next` alone counts */
	unsigned n;
};

/** The link of one that was kept, in no list any more; NULL: there is none. */
static inline struct msd_list *msd_spare_take(struct msd_spare *s)
{
	struct msd_list *it = s->first;

	if (it == NULL)
		return NULL;
	s->first = it->next;
	s->n--;
	msd_list_init(it);
	return it;
}

/** One more may be kept. */
static inline bool msd_spare_has_room(const struct msd_spare *s)
{
#ifdef __SANITIZE_ADDRESS__
	(void)s;
	return false;
#else
	return s->n < MSD_SPARE_MAX;
#endif
}

/** Keep the object with @link, which is in no list; there is room. */
static inline void msd_spare_keep(struct msd_spare *s, struct msd_list *link)
{
	link->next = s->first;
	s->first = link;
	s->n++;
}

#endif
