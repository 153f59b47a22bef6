/* Programs of the Relax VM. */
#include <inttypes.h>

#include "artifact/kind/private.h"
#include "artifact/printable.h"
#include "artifact/relax/image.h"

/* The packed functions that the library, its imports or the runtime must have. */
static bool say_needs(struct msd_payload_info *info, const struct msd_relax_image *img)
{
	struct msd_buf text = {0};

	for (size_t i = 0; i < img->n_funcs; i++) {
		if (img->funcs[i].kind != MSD_RELAX_PACKED)
			continue;
		msd_buf_put(&text, ", ", text.n > 0 ? 2 : 0);
		msd_printable_put(&text, img->funcs[i].name);
	}
	bool ok = !text.bad &&
		  (text.n == 0 ||
		   msd_payload_info_add_bytes(info, "needs",
					      (struct msd_span){text.p, text.n}));
	msd_buf_finish(&text);
	return ok;
}

static bool say_constants(struct msd_payload_info *info,
			  const struct msd_relax_image *img)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < img->n_consts; i++) {
		if (img->consts[i].kind == MSD_RELAX_TENSOR)
			bytes += img->consts[i].as.tensor->data.n;
	}
	return msd_payload_info_add(info, "constants",
				    "%zu (%" PRIu64 " bytes of tensors)", img->n_consts,
				    bytes);
}

static msd_err describe(struct msd_span payload, enum msd_era era,
			struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	msd_err err = msd_relax_image_read(payload, era, &img, d);

	if (err != MSD_OK)
		return err;
	if (!msd_payload_info_add_bytes(info, "version", img.version) ||
	    !say_needs(info, &img) || !say_constants(info, &img) ||
	    !msd_payload_info_add(info, "instructions", "%zu", img.n_instrs))
		err = msd_diag_no_memory(d);
	msd_relax_image_finish(&img);
	return err;
}

msd_err msd_payload_relax(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	struct msd_span payload = {c->p, c->left};

	if (era == MSD_ERA_FFI)
		(void)msd_cur_take(c, c->left); /* framed: nothing follows the image */
	else
		(void)msd_cur_str64(c);
	if (c->bad)
		return msd_payload_truncated(d, "image");
	payload.n -= c->left;
	return info != NULL ? describe(payload, era, info, d) : MSD_OK;
}
