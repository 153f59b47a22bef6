#include "daemon/supervisor/module/warm_key.h"

#include <unistd.h>

#include "daemon/child/user.h"
#include "daemon/supervisor/module/crew.h"
#include "daemon/supervisor/module/house.h"
#include "daemon/supervisor/module/opening_params.h"
#include "proto/value.h"

/* Version of the worker's channel protocol and of the stored data: with another
 * number, no worker is taken over. */
#define CHANNEL_VERSION 1u

bool msd_warm_key(const struct msd_crew *crew, uint32_t index, struct msd_digest *ret)
{
	const struct msd_house *house = crew->house;
	const struct msd_child_user *user = house->worker_user;
	struct msd_buf b = {0};

	if (!house->warm.is_on)
		return false;
	msd_pack_uint(&b, CHANNEL_VERSION);
	msd_pack_cstr(&b, MSD_VERSION);
	msd_buf_put(&b, house->warm.worker.b, sizeof(house->warm.worker.b));
	msd_pack_uint(&b, user != NULL ? user->uid : getuid());
	msd_pack_uint(&b, user != NULL ? user->gid : getgid());
	msd_pack_bool(&b, house->groups != NULL);
	msd_buf_put(&b, crew->source.sha256.b, sizeof(crew->source.sha256.b));
	msd_opening_write_params(&b, crew, index);
	if (!b.bad)
		msd_digest_of((struct msd_span){b.p, b.n}, ret);
	const bool is_known = !b.bad;
	msd_buf_finish(&b);
	return is_known;
}
