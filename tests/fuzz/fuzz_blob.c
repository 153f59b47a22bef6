#include <stdlib.h>
#include <string.h>

#include "artifact/kind/payload.h"
#include "artifact/tree/write.h"
#include "pack/manifest.h"
#include "tests/fuzz/fuzz.h"
#include "tests/pack/read_piece.h"

/* What was read is written as it was. */
static void check_written(const struct msd_tree *tree, struct msd_span blob)
{
	struct msd_buf out = {0};
	msd_err err = msd_tree_write(tree, &out, NULL);

	if (err != MSD_NOMEM &&
	    (err != MSD_OK || out.n != blob.n || memcmp(out.p, blob.p, blob.n) != 0))
		abort();
	msd_buf_finish(&out);
}

/* What can be taken apart is put together as it was. */
static void check_pieces(const struct msd_tree *tree, enum msd_era era,
			 struct msd_span blob)
{
	struct msd_pieces pieces = {0};
	struct msd_piece_source source = {read_piece, &pieces};
	struct msd_manifest m = {0};

	if (msd_manifest_write(tree, era, NULL, &pieces, NULL) == MSD_OK) {
		if (msd_manifest_read(pieces.piece[pieces.n - 1].bytes, &source, &m,
				      NULL) != MSD_OK)
			abort();
		check_written(&m.tree, blob);
		msd_manifest_finish(&m);
	}
	msd_pieces_finish(&pieces);
}

/* The first byte is the era, which chooses the layout. */
int msd_fuzz_accepts(const uint8_t *data, size_t n)
{
	struct msd_tree tree = {0};
	struct msd_diag d = {0};

	if (n == 0)
		return 0;
	enum msd_era era = (enum msd_era)(data[0] % (MSD_ERA_FFI + 1));
	msd_err err =
		msd_tree_read_blob((struct msd_span){data + 1, n - 1}, era, &tree, &d);
	msd_diag_finish(&d);
	if (err == MSD_OK) {
		struct msd_span blob = {data + 1, n - 1};

		check_written(&tree, blob);
		if (era != MSD_ERA_NONE)
			check_pieces(&tree, era, blob);
	}
	for (uint32_t i = 0; i < tree.n_modules; i++) {
		const struct msd_tree_module *m = &tree.modules[i];
		struct msd_payload_info info = {0};

		for (uint32_t k = 0; k < m->n_imports; k++) {
			if (m->imports[k] >= tree.n_modules)
				abort();
		}
		if (msd_payload_describe(m->kind, m->payload, era, &info, NULL) ==
		    MSD_OK)
			msd_payload_info_finish(&info);
	}
	msd_tree_finish(&tree);
	return err == MSD_OK;
}
