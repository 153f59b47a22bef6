/* Kinds that hold a model: executors, their constants, virtual machines. */
#include <stdlib.h>
#include <string.h>

#include "artifact/kind/private.h"
#include "artifact/relax/image.h"

#define VM_MAGIC 0xD225DE2F4214151Dull

/* The number and names of parameters, each twice counted, then the tensors. */
static msd_err read_params(struct msd_cur *c, struct msd_payload_info *info,
			   struct msd_diag *d)
{
	uint64_t n = msd_cur_u64(c);
	msd_err err = msd_payload_names(c, info, "parameter names", d);

	return err == MSD_OK ? msd_payload_tensors(c, n, info, "parameters", d) : err;
}

msd_err msd_payload_graph(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	msd_err err = msd_payload_bytes(c, info, "graph", d);

	return err == MSD_OK ? msd_payload_aot(c, era, info, d) : err;
}

msd_err msd_payload_aot(struct msd_cur *c, enum msd_era era,
			struct msd_payload_info *info, struct msd_diag *d)
{
	(void)era;
	msd_err err = read_params(c, info, d);

	return err == MSD_OK ? msd_payload_str(c, info, "model", d) : err;
}

msd_err msd_payload_consts(struct msd_cur *c, enum msd_era era,
			   struct msd_payload_info *info, struct msd_diag *d)
{
	(void)era;
	msd_err err = msd_payload_names(c, info, "constant names", d);

	if (err == MSD_OK)
		err = msd_payload_tensors(c, msd_cur_u64(c), info, "constants", d);
	if (err == MSD_OK)
		err = msd_payload_names(c, info, "symbols", d);
	if (err != MSD_OK)
		return err;
	size_t n = msd_cur_count64(c, sizeof(uint64_t));
	for (size_t i = 0; i < n && err == MSD_OK; i++)
		err = msd_payload_names(c, NULL, NULL, d);
	return c->bad ? msd_payload_truncated(d, "constants of symbols") : err;
}

msd_err msd_payload_empty(struct msd_cur *c, enum msd_era era,
			  struct msd_payload_info *info, struct msd_diag *d)
{
	(void)c;
	(void)era;
	(void)info;
	(void)d;
	return MSD_OK;
}

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

/* Devices, since 0.9: with a memory scope each since 0.14. */
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
		if (msd_cur_u32(c) == 0) /* 1: bound later, by name */
			err = msd_payload_tensors(c, 1, NULL, "constant", d);
		else
			err = msd_payload_str(c, NULL, NULL, d);
	}
	if (err == MSD_OK && !msd_payload_info_add(info, "constants", "%zu", (size_t)n))
		err = msd_diag_no_memory(d);
	return err;
}

/* What stands before the bytecode, which nothing here runs. */
static msd_err describe_relay_vm(struct msd_cur c, struct msd_payload_info *info,
				 struct msd_diag *d)
{
	uint64_t magic = msd_cur_u64(&c);
	struct msd_cur ahead = c;
	unsigned long minor = minor_of(msd_cur_str64(&ahead));

	if (magic != VM_MAGIC)
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "it does not start with the magic of a relay VM");
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
	(void)msd_cur_take(&c, n * sizeof(int64_t));
	return msd_payload_names(&c, info, "needs", d);
}

msd_err msd_payload_relay_vm(struct msd_cur *c, enum msd_era era,
			     struct msd_payload_info *info, struct msd_diag *d)
{
	(void)era;
	struct msd_span code = msd_cur_str64(c);

	if (c->bad)
		return msd_payload_truncated(d, "code");
	return info != NULL ? describe_relay_vm(msd_cur_of(code), info, d) : MSD_OK;
}
