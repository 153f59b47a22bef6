/* Kinds with a model: graphs, ahead-of-time compiled ones, constants. */
#include "artifact/kind/private.h"

/* The number and names of parameters, each count twice, then the tensors. */
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
