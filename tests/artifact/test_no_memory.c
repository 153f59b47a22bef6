/* Every allocation of the readers fails once: MSD_NOMEM, nothing lost, nothing written.
 */
#include <criterion/criterion.h>
#include <elf.h>

#include "artifact/inspect/inspect.h"
#include "tests/artifact/blob_writer.h"
#include "tests/artifact/elf_writer.h"
#include "tests/support/fail_alloc.h"

/* Inspect @file with the allocation @k failing; false when there was none to fail. */
static bool inspect_failing(struct msd_span file, long k)
{
	struct msd_inspect *in = NULL;
	struct msd_diag d = {0};

	msd_fail_alloc(k);
	msd_err err = msd_inspect_read(file, MSD_ERA_UNSAID, &in, &d);
	bool failed = msd_fail_alloc_stop();
	cr_assert_eq(err, failed ? MSD_NOMEM : MSD_OK, "allocation %ld: %s", k,
		     msd_diag_text(&d));
	cr_assert_eq(in == NULL, failed);
	msd_inspect_destroy(in);
	msd_diag_finish(&d);
	return failed;
}

Test(no_memory, every_failing_allocation_is_reported)
{
	size_t n;
	struct golden_blob *g = golden_blobs(&n);

	for (size_t i = 0; i < n; i++) {
		struct ew_lib lib = {.machine = EM_X86_64,
				     .needed = {"libm.so.6"},
				     .syms = {{"TVMFuncCall", 'U'}, {NULL, 'B'}},
				     .blob = &g[i].bytes};
		struct bw image = {0};
		long k = 0;

		lib.syms[1].name = msd_era_names(g[i].era)->blob;
		ew_write(&image, &lib);
		while (inspect_failing(bw_span(&image), k))
			k++;
		cr_expect_gt(k, 10, "%s", g[i].name);
		bw_free(&image);
	}
	golden_blobs_free(g, n);
}
