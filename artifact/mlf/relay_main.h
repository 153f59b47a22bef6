#ifndef MSD_ARTIFACT_MLF_RELAY_MAIN_H
#define MSD_ARTIFACT_MLF_RELAY_MAIN_H
/*
 * What the text of a Relay program, which archives carry for people, says of its
 * function @main: sizes that the description of releases before 0.11 leaves out.
 */
#include "artifact/mlf/mlf.h"

/** The program of @model; empty: the archive has none. */
struct msd_span msd_mlf_relay_text(const struct msd_mlf *m,
				   const struct msd_mlf_model *model);
/** Bytes of the parameter that is called @name in C; UINT64_MAX: it does not say. */
uint64_t msd_mlf_relay_input(struct msd_span text, const char *name);
/** Bytes of result @i of @n; UINT64_MAX: it does not say, or there are not @n. */
uint64_t msd_mlf_relay_output(struct msd_span text, size_t i, size_t n);

#endif
