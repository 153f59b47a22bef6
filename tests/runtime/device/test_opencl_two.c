/* Two OpenCL devices (POCL_DEVICES makes two of one machine): one library serves both.
 */
#include <criterion/criterion.h>
#include <string.h>

#include "runtime/load/loaded.h"
#include "tests/runtime/device/device_support.h"
#include "tests/runtime/device/opencl_place.h"

static const struct msd_device second = {MSD_DEV_OPENCL, 1};

/* vecadd(a, b, c) with everything on @dev. */
static void expect_sum(struct opencl_place *p, struct msd_dev *dev)
{
	struct msd_tensor *want = opencl_array(p, "vecadd_c");
	struct msd_any ret;
	struct msd_any args[] = {
		to_device(dev, opencl_array(p, "vecadd_a")),
		to_device(dev, opencl_array(p, "vecadd_b")),
		zeros_on(dev, want),
	};

	cr_assert_eq(lib_call(&p->lib, "vecadd", args, 3, &ret), MSD_OK, "%s",
		     msd_diag_text(&p->lib.d));
	expect_on_device(dev, args[2], want);
	msd_any_drop(&args[0]);
	msd_any_drop(&args[1]);
}

Test(opencl_two, kernels_go_to_the_tensors_device)
{
	struct opencl_place p;
	struct msd_dev *dev;

	if (!opencl_place_open(&p, "tvm-0.8/opencl_vecadd/opencl_vecadd.so"))
		return;
	if (msd_loaded_reach(p.lib.loaded, second, &dev, &p.lib.d) != MSD_OK) {
		cr_log_info("skipped: %s", msd_diag_text(&p.lib.d));
		opencl_place_close(&p);
		return;
	}
	cr_expect_neq(dev, p.dev);
	for (int i = 0; i < 2; i++) {
		expect_sum(&p, dev);
		expect_sum(&p, p.dev);
	}
	opencl_place_close(&p);
}

Test(opencl_two, a_device_beyond_the_last_is_named)
{
	const struct msd_device no[] = {{MSD_DEV_OPENCL, 7}, {MSD_DEV_CUDA, 0}};
	struct opencl_place p;
	struct msd_dev *dev;

	if (!opencl_place_open(&p, "tvm-0.8/opencl_vecadd/opencl_vecadd.so"))
		return;
	cr_expect_eq(msd_loaded_reach(p.lib.loaded, no[0], &dev, &p.lib.d),
		     MSD_UNSUPPORTED);
	cr_expect_not_null(strstr(msd_diag_text(&p.lib.d),
				  "no device opencl:7: this machine has"));
	cr_expect_eq(msd_loaded_reach(p.lib.loaded, no[1], &dev, &p.lib.d),
		     MSD_UNSUPPORTED);
	cr_expect_str_eq(msd_diag_text(&p.lib.d),
			 "device cuda:0: the module is placed on opencl:0");
	opencl_place_close(&p);
}

Test(opencl_two, a_model_stays_where_it_was_placed)
{
	struct opencl_place p;
	struct msd_dev *dev;
	struct msd_any ret;

	if (!opencl_place_open(&p, "tvm-0.8/mlp_opencl/mlp_opencl.so"))
		return;
	if (msd_loaded_reach(p.lib.loaded, second, &dev, &p.lib.d) == MSD_OK) {
		struct msd_any in = to_device(dev, opencl_array(&p, "in_data"));
		cr_expect_eq(lib_call(&p.lib, "run", &in, 1, &ret), MSD_BAD_ARGUMENT);
		cr_expect_not_null(strstr(msd_diag_text(&p.lib.d),
					  "expected a tensor on opencl:0 or cpu, got "
					  "one on opencl:1"));
		msd_any_drop(&in);
	}
	opencl_place_close(&p);
}
