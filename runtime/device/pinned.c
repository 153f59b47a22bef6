#include "runtime/device/pinned.h"

#include <pthread.h>
#include <stdlib.h>

struct range {
	struct range *next;
	void *p;
	size_t n;
	struct msd_dev *owner; /* the device that pinned it; NULL: none */
};

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct range *ranges;
/* Open devices that can pin. One pins for all of them because a driver pins per
 * process. */
static struct msd_dev *pinners[MSD_MAX_DEVICES];
static size_t n_pinners;

/* The caller holds the lock. The first device that accepts the range pins it; @d has
 * the error of the last one. */
static bool range_pin(struct range *r, struct msd_diag *d)
{
	for (size_t i = 0; i < n_pinners && r->owner == NULL; i++) {
		if (pinners[i]->ops->pin(pinners[i], r->p, r->n, d) == MSD_OK)
			r->owner = pinners[i];
	}
	return r->owner != NULL;
}

static void range_pin_quietly(struct range *r)
{
	struct msd_diag ignored = {0};

	(void)range_pin(r, &ignored);
	msd_diag_finish(&ignored);
}

static void range_unpin(struct range *r)
{
	if (r->owner != NULL)
		r->owner->ops->unpin(r->owner, r->p);
	r->owner = NULL;
}

bool msd_pinned_add(void *p, size_t n, struct msd_diag *d)
{
	struct range *r = calloc(1, sizeof(*r));

	if (r == NULL) {
		(void)msd_diag_no_memory(d);
		return false;
	}
	r->p = p;
	r->n = n;
	(void)pthread_mutex_lock(&lock);
	r->next = ranges;
	ranges = r;
	const bool is_pinned = range_pin(r, d);
	(void)pthread_mutex_unlock(&lock);
	return is_pinned;
}

void msd_pinned_remove(void *p)
{
	(void)pthread_mutex_lock(&lock);
	for (struct range **at = &ranges; *at != NULL; at = &(*at)->next) {
		struct range *r = *at;
		if (r->p != p)
			continue;
		*at = r->next;
		range_unpin(r);
		free(r);
		break;
	}
	(void)pthread_mutex_unlock(&lock);
}

void msd_pinned_attach(struct msd_dev *dev)
{
	if (dev->ops->pin == NULL)
		return;
	(void)pthread_mutex_lock(&lock);
	if (n_pinners < MSD_MAX_DEVICES) {
		pinners[n_pinners++] = dev;
		for (struct range *r = ranges; r != NULL; r = r->next)
			range_pin_quietly(r);
	}
	(void)pthread_mutex_unlock(&lock);
}

void msd_pinned_detach(struct msd_dev *dev)
{
	(void)pthread_mutex_lock(&lock);
	for (size_t i = 0; i < n_pinners; i++) {
		if (pinners[i] == dev)
			pinners[i--] = pinners[--n_pinners];
	}
	for (struct range *r = ranges; r != NULL; r = r->next) {
		if (r->owner != dev)
			continue;
		range_unpin(r);
		range_pin_quietly(r); /* by another device */
	}
	(void)pthread_mutex_unlock(&lock);
}
