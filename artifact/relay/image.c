/*
 * Parse a payload into an image, in file order: magic and version, the devices, names
 * of functions, constants, names of compiled functions, code (code.c). The version
 * selects the layout at each step. Calls are checked after all functions are read,
 * because they may call a later one.
 */
#include "artifact/relay/image.h"

#include <stdlib.h>
#include <string.h>

#include "artifact/params/tensor_blob.h"

#define MAGIC 0xD225DE2F4214151Dull

void msd_relay_image_finish(struct msd_relay_image *img)
{
	if (img == NULL)
		return;
	for (uint32_t i = 0; img->consts != NULL && i < img->n_consts; i++)
		free(img->consts[i].tensor);
	for (uint32_t i = 0; img->funcs != NULL && i < img->n_funcs; i++) {
		struct msd_relay_func *f = &img->funcs[i];
		for (uint32_t k = 0; f->code != NULL && k < f->n_code; k++)
			free(f->code[k].fields);
		free(f->code);
		free(f->params);
		free(f->param_types);
	}
	free(img->consts);
	free(img->packed);
	free(img->funcs);
	free(img->device_types);
	*img = (struct msd_relay_image){0};
}

static msd_err truncated(struct msd_diag *d, const char *where)
{
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "truncated (%s)", where);
}

/* "0.14.0" or "0.14.dev12" -> 14 */
static uint32_t minor_of(struct msd_span version)
{
	char text[32] = "";

	if (version.n < 3 || version.n >= sizeof(text) ||
	    memcmp(version.p, "0.", 2) != 0)
		return 0;
	memcpy(text, version.p, version.n);
	return (uint32_t)strtoul(text + 2, NULL, 10);
}

static msd_err read_head(struct msd_cur *c, struct msd_relay_image *img,
			 struct msd_diag *d)
{
	if (msd_cur_u64(c) != MAGIC) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "it does not start with the magic of a relay VM");
	}
	img->version = msd_cur_str64(c);
	if (c->bad)
		return truncated(d, "version");
	img->minor = minor_of(img->version);
	if (img->minor < 8) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "relay VM code of TVM %.*s; expected 0.8 to 0.19",
				    (int)(img->version.n < 32 ? img->version.n : 32),
				    (const char *)img->version.p);
	}
	return MSD_OK;
}

static void note_device(struct msd_relay_image *img, int32_t type)
{
	if (type == 0 || type == MSD_DEV_CPU || type == MSD_DEV_CUDA_HOST)
		return;
	if (img->device_type == 0) {
		img->device_type = type;
	} else if (img->device_type != type && img->other_type == 0) {
		img->other_type = type;
	}
}

int32_t msd_relay_device(struct msd_relay_image *img, int64_t number)
{
	int32_t type = -1;

	if (img->minor < 9 && number >= 0 && number < INT32_MAX) {
		type = (int32_t)number;
	} else if (img->minor >= 9 && number >= 0 && number < (int64_t)img->n_devices) {
		type = img->device_types[number];
	}
	if (type > 0)
		note_device(img, type);
	return type >= 0 ? type : -1;
}

static msd_err read_devices(struct msd_cur *c, struct msd_relay_image *img,
			    struct msd_diag *d)
{
	if (img->minor < 9)
		return MSD_OK;
	size_t n = msd_cur_count64(c, 2 * sizeof(int32_t));
	img->device_types = calloc(n + 1, sizeof(*img->device_types));
	if (img->device_types == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n; i++) {
		img->device_types[i] = msd_cur_i32(c);
		(void)msd_cur_i32(c);
		if (img->minor >= 14)
			(void)msd_cur_str64(c); /* memory scope */
		if (!c->bad)
			note_device(img, img->device_types[i]);
	}
	img->n_devices = (uint32_t)n;
	(void)msd_cur_i32(c); /* index of the host device */
	return c->bad ? truncated(d, "devices") : MSD_OK;
}

static msd_err read_names(struct msd_cur *c, struct msd_span **ret, uint32_t *ret_n,
			  struct msd_diag *d, const char *what)
{
	size_t n = msd_cur_count64(c, sizeof(uint64_t));

	if (c->bad || n > UINT32_MAX)
		return truncated(d, what);
	*ret = calloc(n + 1, sizeof(**ret));
	if (*ret == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < n; i++)
		(*ret)[i] = msd_cur_str64(c);
	*ret_n = (uint32_t)n;
	return c->bad ? truncated(d, what) : MSD_OK;
}

static msd_err read_const(struct msd_cur *c, const struct msd_relay_image *img,
			  struct msd_relay_const *k, struct msd_diag *d)
{
	const uint32_t tag = img->minor >= 9 ? msd_cur_u32(c) : 0;

	if (tag > 1)
		return msd_diag_set(d, MSD_BAD_ARTIFACT, "constant of kind %u", tag);
	if (tag == 1) {
		k->name = msd_cur_str64(c);
		return c->bad ? truncated(d, "constants") : MSD_OK;
	}
	k->tensor = malloc(sizeof(*k->tensor));
	if (k->tensor == NULL)
		return msd_diag_no_memory(d);
	return msd_tensor_blob_read(c, k->tensor, d);
}

static msd_err read_consts(struct msd_cur *c, struct msd_relay_image *img,
			   struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, sizeof(uint32_t) + sizeof(uint64_t));
	msd_err err = MSD_OK;

	if (c->bad || n > UINT32_MAX)
		return truncated(d, "constants");
	img->consts = calloc(n + 1, sizeof(*img->consts));
	if (img->consts == NULL)
		return msd_diag_no_memory(d);
	img->n_consts = (uint32_t)n;
	for (size_t i = 0; err == MSD_OK && i < n; i++)
		err = read_const(c, img, &img->consts[i], d);
	if (err != MSD_OK)
		return err;
	n = msd_cur_count64(c, sizeof(int64_t));
	for (size_t i = 0; i < n; i++) {
		const int32_t type = msd_relay_device(img, msd_cur_i64(c));
		if (c->bad || i >= img->n_consts)
			break;
		if (type < 0) {
			return msd_diag_set(d, MSD_BAD_ARTIFACT,
					    "constant %zu is on no device", i);
		}
		img->consts[i].device_type = type;
	}
	return c->bad ? truncated(d, "constants") : MSD_OK;
}

/* Skip the compiler's attributes of each compiled function; they are not used. */
static msd_err skip_attrs(struct msd_cur *c, struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, 2 * sizeof(uint64_t));

	for (size_t i = 0; i < n && !c->bad; i++) {
		(void)msd_cur_u64(c);
		size_t pairs = msd_cur_count64(c, 2 * sizeof(uint64_t));
		for (size_t k = 0; k < 2 * pairs && !c->bad; k++)
			(void)msd_cur_str64(c);
	}
	return c->bad ? truncated(d, "attributes") : MSD_OK;
}

static msd_err read_funcs(struct msd_cur *c, struct msd_relay_image *img,
			  struct msd_diag *d)
{
	size_t n = msd_cur_count64(c, 3 * sizeof(uint64_t));
	msd_err err = MSD_OK;

	if (c->bad || n > UINT32_MAX)
		return truncated(d, "functions");
	img->funcs = calloc(n + 1, sizeof(*img->funcs));
	if (img->funcs == NULL)
		return msd_diag_no_memory(d);
	img->n_funcs = (uint32_t)n;
	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		err = msd_relay_read_func(c, img, &img->funcs[i], d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "function %zu", i);
	}
	for (size_t i = 0; err == MSD_OK && i < n; i++) {
		err = msd_relay_check_calls(img, &img->funcs[i], d);
		if (err != MSD_OK)
			return msd_diag_wrap(d, err, "function %zu", i);
	}
	return err;
}

static msd_err read_image(struct msd_cur *c, struct msd_relay_image *img,
			  struct msd_diag *d)
{
	struct msd_span *globals = NULL;
	uint32_t n;
	msd_err err = read_head(c, img, d);

	if (err == MSD_OK)
		err = read_devices(c, img, d);
	if (err == MSD_OK)
		err = read_names(c, &globals, &n, d, "globals");
	free(globals); /* the functions have their names, too */
	if (err == MSD_OK)
		err = read_consts(c, img, d);
	if (err == MSD_OK)
		err = read_names(c, &img->packed, &img->n_packed, d, "functions");
	if (err == MSD_OK)
		err = skip_attrs(c, d);
	if (err == MSD_OK)
		err = read_funcs(c, img, d);
	if (err == MSD_OK && !msd_cur_end(c)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "%zu bytes behind the code",
				   c->left);
	}
	return err;
}

msd_err msd_relay_image_read(struct msd_span payload, struct msd_relay_image *ret,
			     struct msd_diag *d)
{
	struct msd_relay_image img = {0};
	struct msd_cur c = msd_cur_of(payload);
	struct msd_cur code = msd_cur_of(msd_cur_str64(&c));
	msd_err err = c.bad ? truncated(d, "code") : read_image(&code, &img, d);

	if (err != MSD_OK) {
		msd_relay_image_finish(&img);
		return msd_diag_wrap(d, err, "relay VM");
	}
	*ret = img;
	return MSD_OK;
}
