#include "daemon/supervisor/memory_trim.h"

#include <limits.h>
#include <malloc.h>

#include "daemon/loop/list.h"

#define MUCH_BYTES (8u << 20)
#define MAPPED_BYTES (128 * 1024) /* glibc's initial value; fixed, or it would grow */

static void run(struct msd_work *job)
{
	(void)job;
	(void)malloc_trim(0);
}

static void done(struct msd_work *job)
{
	struct msd_memory_trim *t = MSD_CONTAINER_OF(job, struct msd_memory_trim, job);

	t->is_running = false;
	msd_memory_trim_look(t);
}

void msd_memory_trim_prepare(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, MAPPED_BYTES);
	(void)mallopt(M_TRIM_THRESHOLD, INT_MAX);
}

/* Not BULK: other threads need the allocator lock that it holds. */
static struct msd_work_lane lane = MSD_WORK_LANE(lane, MSD_WORK_INTERACTIVE, 1, 0);

void msd_memory_trim_init(struct msd_memory_trim *t, uv_loop_t *loop,
			  struct msd_account *all)
{
	*t = (struct msd_memory_trim){.loop = loop,
				      .all = all,
				      .job = {.run = run, .done = done, .lane = &lane}};
}

void msd_memory_trim_look(struct msd_memory_trim *t)
{
	if (t->is_running || t->all->most_bytes - t->all->used_bytes < MUCH_BYTES)
		return;
	t->all->most_bytes = t->all->used_bytes;
	t->is_running = true;
	msd_work_begin(t->loop, &t->job);
}
