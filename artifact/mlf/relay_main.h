#ifndef MSD_ARTIFACT_MLF_RELAY_MAIN_H
#define MSD_ARTIFACT_MLF_RELAY_MAIN_H
/* Read sizes from the function @main of a Relay program's text in an archive; the
 * metadata of releases before 0.11 omits them. */
#include "artifact/mlf/mlf.h"

/** The program text of @model; empty if absent. */
struct msd_span msd_mlf_relay_text(const struct msd_mlf *m,
				   const struct msd_mlf_model *model);
/** Bytes of the parameter with the C name @name; UINT64_MAX if unknown. */
uint64_t msd_mlf_relay_input(struct msd_span text, const char *name);
/** Bytes of result @i of @n; UINT64_MAX if unknown, or if there are not @n. */
uint64_t msd_mlf_relay_output(struct msd_span text, size_t i, size_t n);

#endif
