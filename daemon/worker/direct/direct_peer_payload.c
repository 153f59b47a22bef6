/*
 * Memory for a direct peer's tensors. Happy path: use the smallest free block that is
 * large enough, or map memory. It is a shared mapping only so that it does not count
 * as data: the limit of a worker's data (--max-worker-memory) is for its module
 * alone, and the daemon's own calls use segments, which do not count either. If too
 * much is free, the least recently used memory returns to the system. Failures: the
 * kernel has no memory, and the direct peer is closed.
 */
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "daemon/worker/direct/direct_peer.h"

static struct msd_direct_peer_payload *payload_of(struct msd_list *link)
{
	return MSD_CONTAINER_OF(link, struct msd_direct_peer_payload, link);
}

static void drop(struct msd_direct_peer *g, struct msd_direct_peer_payload *p)
{
	msd_list_remove(&p->link);
	g->kept_bytes -= p->cap;
}

/* NULL: none is large enough. */
static struct msd_direct_peer_payload *take_kept(struct msd_direct_peer *g, size_t cap)
{
	struct msd_direct_peer_payload *best = NULL;

	MSD_LIST_EACH (it, &g->kept) {
		struct msd_direct_peer_payload *p = payload_of(it);

		if (p->cap < cap || (best != NULL && p->cap >= best->cap))
			continue;
		best = p;
		if (p->cap == cap)
			break;
	}
	if (best != NULL)
		drop(g, best);
	return best;
}

/*
 * The bytes begin at a page boundary. The read buffer has them at another page
 * offset. A copy to an address slightly behind the source's page offset takes twice
 * as long.
 */
static struct msd_direct_peer_payload *map(size_t cap)
{
	struct msd_direct_peer_payload *p = malloc(sizeof(*p));
	void *bytes = p != NULL ? mmap(NULL, cap, PROT_READ | PROT_WRITE,
				       MAP_SHARED | MAP_ANONYMOUS, -1, 0)
				: MAP_FAILED;

	if (bytes == MAP_FAILED) {
		free(p);
		return NULL;
	}
	*p = (struct msd_direct_peer_payload){.bytes = bytes, .cap = cap};
	msd_list_init(&p->link);
	return p;
}

static void unmap(struct msd_direct_peer_payload *p)
{
	(void)munmap(p->bytes, p->cap);
	free(p);
}

struct msd_direct_peer_payload *msd_direct_peer_payload_get(struct msd_direct_peer *g,
							    uint64_t bytes)
{
	const size_t page = (size_t)sysconf(_SC_PAGESIZE);
	const size_t cap = (bytes + page - 1) / page * page;
	struct msd_direct_peer_payload *p = take_kept(g, cap);

	return p != NULL ? p : map(cap);
}

static void keep(struct msd_direct_peer *g, struct msd_direct_peer_payload *p)
{
	msd_list_append(g->kept.next, &p->link); /* at the front */
	g->kept_bytes += p->cap;
}

static void unmap_oldest(struct msd_direct_peer *g, uint64_t most)
{
	for (struct msd_list *it = g->kept.prev, *newer = it->prev;
	     it != &g->kept && g->kept_bytes > most; it = newer, newer = it->prev) {
		struct msd_direct_peer_payload *p = payload_of(it);

		drop(g, p);
		unmap(p);
	}
}

void msd_direct_peer_payload_free(struct msd_direct_peer *g,
				  struct msd_direct_peer_payload *p)
{
	const uint64_t most = g->max_bytes < MSD_DIRECT_PEER_KEPT_BYTES
				      ? g->max_bytes
				      : MSD_DIRECT_PEER_KEPT_BYTES;

	if (p == NULL)
		return;
	if (p->cap > most) {
		unmap(p);
		return;
	}
	keep(g, p);
	unmap_oldest(g, most);
}

void msd_direct_peer_payloads_init(struct msd_direct_peer *g)
{
	msd_list_init(&g->kept);
}

void msd_direct_peer_payloads_finish(struct msd_direct_peer *g)
{
	MSD_LIST_EACH_SAFE (it, &g->kept) {
		unmap(payload_of(it));
	}
	msd_list_init(&g->kept);
	g->kept_bytes = 0;
}
