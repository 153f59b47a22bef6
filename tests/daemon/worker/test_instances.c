#include <criterion/criterion.h>

#include "daemon/worker/handlers.h"
#include "daemon/worker/worker.h"
#include "runtime/module/instance.h"

static unsigned n_closed;

static void count_closed(struct msd_instance *self)
{
	(void)self;
	n_closed++;
}

static const struct msd_instance_ops ops = {.close = count_closed};

Test(instances, all_that_are_there_are_freed_whatever_else_is_named)
{
	static struct msd_peer peer;
	struct msd_instance one = {.ops = &ops}, two = {.ops = &ops};
	struct msd_handle first, second;
	struct msd_buf params = {0}, out = {0};
	struct msd_diag d = {0};

	msd_handles_init(&peer.instances, 10);
	cr_assert_eq(msd_handles_add(&peer.instances, MSD_K_INSTANCE, &one, &first, &d),
		     MSD_OK);
	cr_assert_eq(
		msd_handles_add(&peer.instances, MSD_K_INSTANCE, &two, &second, &d),
		MSD_OK);
	msd_pack_array(&params, 3);
	msd_pack_handle(&params, MSD_EXT_INSTANCE, first);
	msd_pack_handle(&params, MSD_EXT_INSTANCE, first);
	msd_pack_handle(&params, MSD_EXT_INSTANCE, second);
	struct msd_request r = {.peer = &peer, .params = {params.p, params.n}};
	cr_expect_eq(msd_handle_instance_free(NULL, &r, &out, &d), MSD_STALE_HANDLE);
	cr_expect_str_eq(msd_diag_text(&d),
			 "instance.free: 1 of 3 instances are gone already");
	cr_expect_eq(n_closed, 2);
	msd_buf_finish(&params);
	msd_buf_finish(&out);
	msd_handles_finish(&peer.instances);
	msd_diag_finish(&d);
}
