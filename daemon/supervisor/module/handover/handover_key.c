#include "daemon/supervisor/module/handover/handover_key.h"

#include <unistd.h>

#include "daemon/child/user.h"
#include "daemon/supervisor/module/life/registry.h"
#include "daemon/supervisor/module/workers/opening_params.h"
#include "daemon/supervisor/module/workers/worker_group.h"
#include "proto/value.h"

/* Version of the worker's channel protocol and of the stored data: with another
 * number, no worker is taken over. */
#define CHANNEL_VERSION 1u

bool msd_handover_key(const struct msd_worker_group *group, uint32_t index,
		      struct msd_digest *ret)
{
	const struct msd_module_registry *registry = group->registry;
	const struct msd_child_user *user = registry->worker_user;
	struct msd_buf b = {0};

	if (!registry->warm.is_on)
		return false;
	msd_pack_uint(&b, CHANNEL_VERSION);
	msd_pack_cstr(&b, MSD_VERSION);
	msd_buf_put(&b, registry->warm.worker.b, sizeof(registry->warm.worker.b));
	msd_pack_uint(&b, user != NULL ? user->uid : getuid());
	msd_pack_uint(&b, user != NULL ? user->gid : getgid());
	msd_pack_bool(&b, registry->groups != NULL);
	msd_buf_put(&b, group->source.sha256.b, sizeof(group->source.sha256.b));
	msd_opening_write_params(&b, group, index);
	if (!b.bad)
		msd_digest_of((struct msd_span){b.p, b.n}, ret);
	const bool is_known = !b.bad;
	msd_buf_finish(&b);
	return is_known;
}
