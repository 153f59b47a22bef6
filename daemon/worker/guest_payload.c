/*
 * Where a guest's tensors come to. Happy path: what has become free before is large
 * enough, or memory is mapped, shared with nobody but by its kind: the limit of a
 * worker's data (--max-worker-memory) is its module's alone, and what the daemon's own
 * calls bring lies in segments, which are none either. Failures: the kernel has none,
 * and the guest is ended.
 */
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/worker/guest.h"
#include "proto/limits.h"

/* Of a guest's free memory; more goes back to the system. */
#define KEEP_BYTES (256u << 10)

/* In front of the bytes. */
struct msd_guest_payload {
	struct msd_guest_payload *next;
	size_t cap; /* of all, this included */
};

_Static_assert(sizeof(struct msd_guest_payload) <= MSD_TENSOR_ALIGN, "it has room");

static struct msd_guest_payload *take_kept(struct msd_guest *g, uint64_t cap)
{
	for (struct msd_guest_payload **at = &g->kept; *at != NULL; at = &(*at)->next) {
		struct msd_guest_payload *p = *at;

		if (p->cap < cap)
			continue;
		*at = p->next;
		g->kept_bytes -= p->cap;
		return p;
	}
	return NULL;
}

static struct msd_guest_payload *map(uint64_t cap)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t whole = (cap + page - 1) / page * page;
	struct msd_guest_payload *p = mmap(NULL, whole, PROT_READ | PROT_WRITE,
					   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return NULL;
	p->cap = whole;
	return p;
}

uint8_t *msd_guest_payload_take(struct msd_guest *g, uint64_t bytes)
{
	const uint64_t cap = bytes + MSD_TENSOR_ALIGN;
	struct msd_guest_payload *p = take_kept(g, cap);

	if (p == NULL)
		p = map(cap);
	return p != NULL ? (uint8_t *)p + MSD_TENSOR_ALIGN : NULL;
}

void msd_guest_payload_free(struct msd_guest *g, uint8_t *bytes)
{
	struct msd_guest_payload *p;

	if (bytes == NULL)
		return;
	p = (void *)(bytes - MSD_TENSOR_ALIGN);
	if (g->kept_bytes + p->cap > KEEP_BYTES) {
		(void)munmap(p, p->cap);
		return;
	}
	p->next = g->kept;
	g->kept = p;
	g->kept_bytes += p->cap;
}

void msd_guest_payloads_finish(struct msd_guest *g)
{
	while (g->kept != NULL) {
		struct msd_guest_payload *p = g->kept;

		g->kept = p->next;
		(void)munmap(p, p->cap);
	}
}
