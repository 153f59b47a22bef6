#ifndef MSD_ARTIFACT_INSPECT_COMPANION_H
#define MSD_ARTIFACT_INSPECT_COMPANION_H
/*
 * Files of a model that are no module by themselves, told by their first bytes: a graph
 * executor's graph, parameters, a virtual machine's program. People hand over what
 * their compiler left beside the library, and "not an ELF file" would not help them.
 */
#include "proto/bytes.h"
#include "proto/diag.h"

enum msd_companion {
	MSD_COMPANION_NONE, /* none of them */
	MSD_COMPANION_GRAPH,
	MSD_COMPANION_PARAMS,
	MSD_COMPANION_PROGRAM,
};

/** Which of them @file is. Nothing is promised about the rest of it. */
enum msd_companion msd_companion_of(struct msd_span file);
bool msd_companion_is(struct msd_span file);
/** The program in @file, which is one: TVM up to 0.20 writes its length in front. */
struct msd_span msd_companion_program(struct msd_span file);
/** MSD_UNSUPPORTED: what it is and what to do with it; MSD_OK: it is none of them. */
MSD_MUST_CHECK msd_err msd_companion_refuse(struct msd_span file, struct msd_diag *d);

#endif
