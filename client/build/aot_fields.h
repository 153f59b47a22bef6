#ifndef MSD_CLI_AOT_FIELDS_H
#define MSD_CLI_AOT_FIELDS_H
/* Inputs and outputs of an archive's ahead-of-time model: C names and sizes, from its
 * header, its description and its program. */
#include "artifact/mlf/mlf.h"

#define MSD_AOT_MAX_FIELDS 256u
#define MSD_AOT_MAX_NAME 128u
#define MSD_AOT_UNKNOWN UINT64_MAX /* size in bytes is not known */

struct msd_aot_fields {
	char names[MSD_AOT_MAX_FIELDS][MSD_AOT_MAX_NAME];
	uint64_t bytes[MSD_AOT_MAX_FIELDS];
	size_t n;
};

struct msd_aot_io {
	struct msd_aot_fields in;
	struct msd_aot_fields outs;
	struct msd_aot_fields pools; /* memory that the C interface requires */
	uint64_t
		total; /* of inputs and outputs; MSD_AOT_UNKNOWN: sizes are per field */
};

/** From the header of the C interface, in its order. Errors: MSD_UNSUPPORTED. */
MSD_MUST_CHECK msd_err msd_aot_fields_by_header(const struct msd_mlf *m,
						const struct msd_mlf_model *model,
						struct msd_aot_io *ret,
						struct msd_diag *d);
/**
 * From metadata.json alone, which lists fields by name; for several fields it gives
 * only their number and sum. False: not described.
 */
bool msd_aot_fields_by_description(const struct msd_mlf_model *model,
				   struct msd_aot_io *ret);

#endif
