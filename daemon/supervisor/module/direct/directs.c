#include "daemon/supervisor/module/direct/directs.h"

#include "daemon/limits.h"
#include "daemon/supervisor/module/direct/direct.h"
#include "daemon/supervisor/module/life/module.h"
#include "daemon/supervisor/module/workers/replica.h"

/* Shares of max_memory for all channels together, and for one user. */
#define PART_OF_ALL 2u
#define PART_OF_ONE 4u
#define HOLD_OFF_MS 10000u /* after the last client that watched single calls */

void msd_directs_end(struct msd_module_registry *registry)
{
	MSD_LIST_EACH (it, &registry->modules) {
		msd_direct_end_group(
			&MSD_CONTAINER_OF(it, struct msd_module, link)->group);
	}
}

void msd_directs_hold_off(struct msd_module_registry *registry)
{
	registry->no_direct_until_ms = uv_now(registry->loop) + HOLD_OFF_MS;
	msd_directs_end(registry);
}

void msd_directs_count(struct msd_module_registry *registry)
{
	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_worker_group *group =
			&MSD_CONTAINER_OF(it, struct msd_module, link)->group;
		for (uint32_t i = 0; i < group->n_replicas; i++) {
			if (group->replicas[i].process != NULL)
				msd_direct_count(group->replicas[i].process);
		}
	}
}

static void count_of(const struct msd_process *p, struct msd_peer_id who,
		     uint64_t *ret_all, uint64_t *ret_own)
{
	MSD_LIST_EACH (it, &p->directs) {
		const struct msd_direct *x =
			MSD_CONTAINER_OF(it, struct msd_direct, link);
		(*ret_all)++;
		*ret_own += msd_peer_id_is(x->who, who);
	}
}

msd_err msd_directs_check_bytes(const struct msd_module_registry *registry,
				struct msd_peer_id who, struct msd_diag *d)
{
	const uint64_t bytes = msd_direct_bytes(registry->limits);
	uint64_t n_all = 1, n_own = 1;

	MSD_LIST_EACH (it, &registry->modules) {
		const struct msd_worker_group *group =
			&MSD_CONTAINER_OF(it, struct msd_module, link)->group;
		for (uint32_t i = 0; i < group->n_replicas; i++) {
			const struct msd_process *p = group->replicas[i].process;
			if (p != NULL)
				count_of(p, who, &n_all, &n_own);
		}
	}
	if (n_all * bytes <= registry->limits->max_memory / PART_OF_ALL &&
	    n_own * bytes <= registry->limits->max_memory / PART_OF_ONE)
		return MSD_OK;
	return msd_diag_set(
		d, MSD_BUSY,
		"channel.open: direct channels may use half of --max-memory, and one "
		"user half of that: close one, or send the calls to the daemon");
}
