/*
 * Kinds of which more is told than payload.c's facts: one row for each. They stand
 * apart from those because the readers of graphs want a library that reads JSON, and
 * whoever packs does not.
 */
#include <string.h>

#include "artifact/gpu/device_blob.h"
#include "artifact/inspect/private.h"
#include "artifact/relax/image.h"
#include "artifact/relay/image.h"

typedef msd_err look_fn(struct msd_span payload, enum msd_era era,
			struct msd_inspect_module *m, struct msd_diag *d);

static msd_err look_cuda(struct msd_span payload, enum msd_era era,
			 struct msd_inspect_module *m, struct msd_diag *d)
{
	struct msd_cur c = msd_cur_of(payload);
	struct msd_device_blob b = {0};
	msd_err err = msd_device_blob_read(&c, era, &b, d);

	if (err == MSD_OK && msd_gpu_code_is(b.format, b.code))
		err = msd_gpu_code_read(b.code, &m->gpu, d);
	msd_device_blob_finish(&b);
	return err;
}

static msd_err look_graph(struct msd_span payload, enum msd_era era,
			  struct msd_inspect_module *m, struct msd_diag *d)
{
	(void)era;
	return msd_model_of_graph(payload, &m->model, d);
}

static msd_err look_aot(struct msd_span payload, enum msd_era era,
			struct msd_inspect_module *m, struct msd_diag *d)
{
	(void)era;
	return msd_model_of_aot(payload, &m->model, d);
}

static msd_err look_relax(struct msd_span payload, enum msd_era era,
			  struct msd_inspect_module *m, struct msd_diag *d)
{
	struct msd_relax_image img = {0};
	msd_err err = msd_relax_image_read(payload, era, &img, d);

	if (err != MSD_OK)
		return err;
	err = msd_model_of_relax(&img, &m->model, d);
	msd_relax_image_finish(&img);
	return err;
}

static msd_err look_relay(struct msd_span payload, enum msd_era era,
			  struct msd_inspect_module *m, struct msd_diag *d)
{
	struct msd_relay_image img = {0};
	msd_err err = msd_relay_image_read(payload, &img, d);

	(void)era;
	if (err != MSD_OK)
		return err;
	err = msd_model_of_relay(&img, &m->model, d);
	msd_relay_image_finish(&img);
	return err;
}

static const struct {
	const char *kind;
	look_fn *look;
} rows[] = {
	{"cuda", look_cuda},
	{"GraphExecutorFactory", look_graph},
	{"GraphRuntimeFactory", look_graph},
	{"AotExecutorFactory", look_aot},
	{"relax.VMExecutable", look_relax},
	{"relax.Executable", look_relax},
	{"VMExecutable", look_relay},
};

/* Damage that the facts have told already is not told twice. */
static bool has_damage(const struct msd_payload_info *info)
{
	for (size_t i = 0; i < info->n_facts; i++)
		if (strcmp(info->facts[i].key, "damaged") == 0 ||
		    strcmp(info->facts[i].key, "unsupported") == 0)
			return true;
	return false;
}

msd_err msd_inspect_look(const struct msd_tree_module *from, enum msd_era era,
			 struct msd_inspect_module *m, struct msd_diag *d)
{
	struct msd_diag why = {0};
	msd_err err = MSD_OK;

	for (size_t i = 0; i < sizeof(rows) / sizeof(*rows); i++)
		if (msd_span_is(from->kind, rows[i].kind))
			err = rows[i].look(from->payload, era, m, &why);
	if (err == MSD_NOMEM ||
	    (err != MSD_OK && !has_damage(&m->info) &&
	     !msd_payload_info_add(&m->info,
				   err == MSD_UNSUPPORTED ? "unsupported" : "damaged",
				   "%s", msd_diag_text(&why))))
		err = msd_diag_set(d, MSD_NOMEM, "out of memory inspecting the file");
	else
		err = MSD_OK;
	msd_diag_finish(&why);
	return err;
}
