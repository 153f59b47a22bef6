/* Every allocation of load, call and unload fails once: MSD_NOMEM, nothing lost. */
#include <criterion/criterion.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/packed/global.h"
#include "tests/runtime/relax/vm_tree.h"
#include "tests/support/fail_alloc.h"

/* Load @image and call main(x), the allocation @k failing; false when none was left to
 * fail. */
static bool run_failing(const struct msd_buf *image, const struct msd_any *x, long k)
{
	struct vm_tree t = {0};
	struct image img = {0};
	struct msd_any ret = msd_none();
	struct msd_diag d = {0};

	addone_write(&t, &img); /* for the library function */
	struct msd_buf unused = image_finish(&img);
	msd_buf_finish(&unused);
	t.image = (struct msd_buf){.p = malloc(image->n), .n = image->n};
	memcpy(t.image.p, image->p, image->n);
	msd_fail_alloc(k);
	msd_err err = vm_tree_open_bytes(&t, &d);
	if (err == MSD_OK)
		err = vm_tree_call(&t, "main", x, 1, &ret, &d);
	bool failed = msd_fail_alloc_stop();
	cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld: %s", k,
		     msd_diag_text(&d));
	msd_any_drop(&ret);
	vm_tree_close(&t);
	msd_diag_finish(&d);
	return failed;
}

Test(relax_no_memory, every_failing_allocation_is_reported)
{
	struct vm_tree unused = {0};
	struct image img = {0};
	struct msd_any x = f32_tensor((float[]){1, 2}, 2);
	long k = 0;

	cr_assert_not_null(msd_global_find("vm.builtin.copy")); /* the table, once */
	addone_write(&unused, &img);
	struct msd_buf image = image_finish(&img);
	while (run_failing(&image, &x, k))
		k++;
	cr_assert_gt(k, 20);
	msd_any_drop(&x);
	msd_buf_finish(&image);
}
