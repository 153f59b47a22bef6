#ifndef MSD_ARTIFACT_INSPECT_COMPANION_H
#define MSD_ARTIFACT_INSPECT_COMPANION_H
/*
 * Detect files of a model that are not modules, by their first bytes: a graph
 * executor's graph, parameters, a virtual machine's program. Users often pass such
 * outputs of their compiler, and "not an ELF file" would not help them.
 */
#include "proto/base/bytes.h"
#include "proto/base/diag.h"

enum msd_companion {
	MSD_COMPANION_NONE, /* another file */
	MSD_COMPANION_GRAPH,
	MSD_COMPANION_PARAMS,
	MSD_COMPANION_PROGRAM,
};

/** The type of @file. The rest of the file is not checked. */
enum msd_companion msd_companion_of(struct msd_span file);
bool msd_companion_is(struct msd_span file);
/**
 * The program in @file, which must be one: TVM up to 0.20 writes its length in front.
 */
struct msd_span msd_companion_program(struct msd_span file);
/**
 * MSD_UNSUPPORTED: the text gives the type of file and a solution; MSD_OK: it has
 * none of these types.
 */
MSD_MUST_CHECK msd_err msd_companion_refuse(struct msd_span file, struct msd_diag *d);

#endif
