/* Programs of the Relay VM: facts of the part before the code, so that damage in the
 * code hides none of them; then the model and the listing of the whole image. */
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/look.h"
#include "artifact/kind/private.h"
#include "artifact/params/tensor_blob.h"
#include "artifact/relay/image.h"
#include "artifact/relay/text.h"

#define VM_MAGIC 0xD225DE2F4214151Dull

/* "0.14.0" -> 14 */
static unsigned long minor_of(struct msd_span version)
{
	char text[16] = "";

	if (version.n < 3 || version.n >= sizeof(text) ||
	    memcmp(version.p, "0.", 2) != 0)
		return 0;
	memcpy(text, version.p, version.n);
	return strtoul(text + 2, NULL, 10);
}

/* Devices, since 0.9; each has a memory scope since 0.14. */
static msd_err read_devices(struct msd_cur *c, unsigned long minor, struct msd_diag *d)
{
	size_t n = minor >= 9 ? msd_cur_count64(c, 8) : 0;

	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_u64(c);
		if (minor >= 14)
			(void)msd_cur_str64(c);
	}
	if (minor >= 9)
		(void)msd_cur_i32(c); /* the host's index */
	return c->bad ? msd_payload_truncated(d, "devices") : MSD_OK;
}

static msd_err read_vm_constants(struct msd_cur *c, unsigned long minor,
				 struct msd_payload_info *info, struct msd_diag *d)
{
	uint64_t n = msd_cur_u64(c);
	msd_err err = MSD_OK;

	if (minor < 9)
		return msd_payload_tensors(c, n, info, "constants", d);
	if (n > c->left / sizeof(uint32_t))
		return msd_payload_truncated(d, "constants");
	for (uint64_t i = 0; i < n && err == MSD_OK; i++) {
		if (msd_cur_u32(c) == 0) { /* 1: bound later, by name */
			err = msd_payload_tensors(c, 1, NULL, "constant", d);
		} else {
			err = msd_payload_str(c, NULL, NULL, d);
		}
	}
	if (err == MSD_OK && !msd_payload_info_add(info, "constants", "%zu", (size_t)n))
		err = msd_diag_no_memory(d);
	return err;
}

/* Describe the part before the bytecode; inspection does not run it. */
static msd_err describe(struct msd_cur c, struct msd_payload_info *info,
			struct msd_diag *d)
{
	uint64_t magic = msd_cur_u64(&c);
	struct msd_cur ahead = c;
	unsigned long minor = minor_of(msd_cur_str64(&ahead));

	if (magic != VM_MAGIC) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "it does not start with the magic of a relay VM");
	}
	msd_err err = msd_payload_str(&c, info, "version", d);
	if (err == MSD_OK)
		err = read_devices(&c, minor, d);
	if (err == MSD_OK)
		err = msd_payload_names(&c, info, "functions", d);
	if (err == MSD_OK)
		err = read_vm_constants(&c, minor, info, d);
	if (err != MSD_OK)
		return err;
	size_t n = msd_cur_count64(&c, sizeof(int64_t)); /* each constant's device */
	(void)msd_cur_read(&c, n * sizeof(int64_t));
	return msd_payload_names(&c, info, "needs", d);
}

msd_err msd_payload_relay(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	(void)era;
	struct msd_span code = msd_cur_str64(c);

	if (c->bad)
		return msd_payload_truncated(d, "code");
	return info != NULL ? describe(msd_cur_of(code), info, d) : MSD_OK;
}

static msd_err take_func(const struct msd_relay_func *from, struct msd_model *m,
			 struct msd_diag *d)
{
	const struct msd_relay_ins *result = msd_relay_find_result(from);
	struct msd_model_value *v = NULL;
	struct msd_model_func *f;
	msd_err err = msd_model_add_func(m, from->name, &f, d);

	for (uint32_t i = 0; err == MSD_OK && f != NULL && i < from->n_params; i++)
		err = msd_model_add_input(f, from->params[i], &v, d);
	if (err != MSD_OK || f == NULL || result == NULL)
		return err;
	err = msd_model_add_output(f, (struct msd_span){NULL, 0}, &v, d);
	const struct msd_dtype dtype = {(uint8_t)result->fields[2],
					(uint8_t)result->fields[3],
					(uint16_t)result->fields[4]};
	return v != NULL ? msd_model_set_tensor(v, dtype, result->fields + 7,
						(size_t)result->fields[5], d)
			 : err;
}

static msd_err take_model(const struct msd_relay_image *img, struct msd_model *m,
			  struct msd_diag *d)
{
	msd_err err = MSD_OK;

	m->has_params = true;
	for (uint32_t i = 0; err == MSD_OK && i < img->n_consts; i++) {
		m->n_params++;
		if (img->consts[i].tensor != NULL) {
			m->param_bytes += img->consts[i].tensor->data.n;
		} else {
			err = msd_model_add_late(m, img->consts[i].name, d);
		}
	}
	for (uint32_t i = 0; err == MSD_OK && i < img->n_packed; i++)
		err = msd_model_add_need(m, img->packed[i], d);
	for (uint32_t i = 0; err == MSD_OK && i < img->n_funcs; i++)
		err = take_func(&img->funcs[i], m, d);
	return err;
}

static msd_err look(struct msd_span payload, enum msd_era era, struct msd_gpu_code *gpu,
		    struct msd_model *model, struct msd_diag *d)
{
	struct msd_relay_image img = {0};
	msd_err err = msd_relay_image_read(payload, &img, d);

	(void)era;
	(void)gpu;
	if (err != MSD_OK)
		return err;
	err = take_model(&img, model, d);
	msd_relay_image_finish(&img);
	return err;
}

static msd_err list(struct msd_span payload, enum msd_era era, struct msd_buf *out,
		    struct msd_diag *d)
{
	struct msd_relay_image img = {0};
	msd_err err = msd_relay_image_read(payload, &img, d);

	(void)era;
	if (err != MSD_OK)
		return err;
	msd_relay_text(&img, out);
	msd_relay_image_finish(&img);
	return MSD_OK;
}

const struct msd_look msd_look_relay = {look, list};
