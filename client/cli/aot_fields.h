#ifndef MSD_CLI_AOT_FIELDS_H
#define MSD_CLI_AOT_FIELDS_H
/*
 * What an ahead-of-time model of an archive takes and gives: names in C and sizes, by
 * its header, its description and its program.
 */
#include "artifact/mlf/mlf.h"

#define MSD_AOT_MAX_FIELDS 256u
#define MSD_AOT_MAX_NAME 128u
#define MSD_AOT_UNKNOWN UINT64_MAX /* bytes that nothing tells */

struct msd_aot_fields {
	char names[MSD_AOT_MAX_FIELDS][MSD_AOT_MAX_NAME];
	uint64_t bytes[MSD_AOT_MAX_FIELDS];
	size_t n;
};

struct msd_aot_io {
	struct msd_aot_fields in;
	struct msd_aot_fields outs;
	struct msd_aot_fields pools; /* memory that the C interface wants to be given */
	uint64_t total; /* of inputs and outputs; MSD_AOT_UNKNOWN: each has its own */
};

/** By the header of the C interface, in its order. Errors: MSD_UNSUPPORTED. */
MSD_MUST_CHECK msd_err msd_aot_fields_by_header(const struct msd_mlf *m,
						const struct msd_mlf_model *model,
						struct msd_aot_io *ret,
						struct msd_diag *d);
/**
 * By metadata.json alone, which lists them by name: where there are several only their
 * number and sum are told. False: it does not say.
 */
bool msd_aot_fields_by_description(const struct msd_mlf_model *model,
				   struct msd_aot_io *ret);

#endif
