#include "daemon/supervisor/module/workers/reply_slots.h"

#include <stdlib.h>

#include "daemon/loop/free_list.h"

/*
 * Happy path: a reply gets slots; it is written, and its slots are released.
 * Failures: the client is gone, perhaps with the maximum of unread replies. Then a
 * part of the slots is released each millisecond. So the loop is not blocked, and the
 * worker, which clears the slots, has time for other calls. If the worker is gone,
 * the slots need no release.
 */

#define SPARE_SLOTS 4u  /* a larger list is freed, not kept for the next reply */
#define LEFT_SLOTS 512u /* half of what a worker can clear in that time */
#define LEFT_MS 1u

struct msd_reply_slots {
	struct msd_list link; /* in the spare list, or msd_process.left */
	struct msd_process *process;
	uint32_t n, room;
	struct held_slot {
		uint16_t segment;
		struct msd_range range;
	} slots[];
};

static struct msd_free_list spare;

static struct msd_reply_slots *create(uint32_t n)
{
	struct msd_reply_slots *h = calloc(1, sizeof(*h) + n * sizeof(h->slots[0]));

	if (h == NULL)
		return NULL;
	msd_list_init(&h->link);
	h->room = n;
	return h;
}

struct msd_reply_slots *msd_reply_slots_new(struct msd_process *p, uint32_t n)
{
	struct msd_list *it = n <= SPARE_SLOTS ? msd_free_list_pop(&spare) : NULL;
	struct msd_reply_slots *h =
		it != NULL ? MSD_CONTAINER_OF(it, struct msd_reply_slots, link)
			   : create(n > SPARE_SLOTS ? n : SPARE_SLOTS);

	if (h == NULL)
		return NULL;
	h->process = p;
	h->n = 0;
	msd_process_ref(p);
	return h;
}

msd_err msd_reply_slots_add(struct msd_reply_slots *h, uint16_t segment,
			    uint64_t offset, uint64_t bytes, const uint8_t **ret,
			    struct msd_diag *d)
{
	if (h->n >= h->room) {
		return msd_diag_set(d, MSD_PROTOCOL,
				    "a result's tensor is not in a segment");
	}
	struct held_slot *slot = &h->slots[h->n];
	*slot = (struct held_slot){segment, {.at = offset, .bytes = bytes}};
	const msd_err err =
		msd_segmap_hold(&h->process->out, segment, &slot->range, ret, d);
	if (err != MSD_OK)
		return msd_diag_wrap(d, err, "a result's tensor");
	h->n++;
	h->process->held_bytes += bytes;
	return MSD_OK;
}

uint32_t msd_reply_slots_count(const struct msd_reply_slots *h)
{
	return h->n;
}

static void give_back(struct msd_process *p, const struct held_slot *s)
{
	msd_segmap_let_go(&p->out, s->segment, &s->range);
	p->held_bytes -= s->range.bytes;
	msd_process_release(p, s->segment, s->range.at, s->range.bytes);
}

static void end(struct msd_reply_slots *h)
{
	struct msd_process *p = h->process;

	/* A process that is gone needs no release. */
	for (uint32_t i = 0; i < h->n && p->child != NULL; i++)
		give_back(p, &h->slots[i]);
	if (h->room == SPARE_SLOTS && msd_free_list_has_room(&spare)) {
		msd_free_list_push(&spare, &h->link);
	} else {
		free(h);
	}
	msd_process_unref(p);
}

static struct msd_reply_slots *take_left(struct msd_process *p)
{
	struct msd_list *it = msd_list_first(&p->left);

	if (it == NULL)
		return NULL;
	msd_list_remove(it);
	return MSD_CONTAINER_OF(it, struct msd_reply_slots, link);
}

/* Each entry holds a reference to @p; the last one may free it. */
static void on_left_due(struct msd_deadline *node)
{
	struct msd_process *p = MSD_CONTAINER_OF(node, struct msd_process, left_timer);
	struct msd_reply_slots *h;
	uint32_t n = 0;

	msd_process_ref(p);
	while ((n < LEFT_SLOTS || p->child == NULL) && (h = take_left(p)) != NULL) {
		n += h->n + 1;
		end(h);
	}
	if (!msd_list_is_empty(&p->left))
		msd_deadline_set(p->registry->deadlines, node, LEFT_MS);
	msd_process_unref(p);
}

void msd_reply_slots_end(void *held, bool sent)
{
	struct msd_reply_slots *h = held;
	struct msd_process *p = h->process;

	if (sent || p->child == NULL) {
		end(h);
		return;
	}
	msd_list_append(&p->left, &h->link);
	p->left_timer.on_due = on_left_due;
	if (!msd_deadline_is_set(&p->left_timer))
		msd_deadline_set(p->registry->deadlines, &p->left_timer, LEFT_MS);
}
