#ifndef MSD_ARTIFACT_ELF_FOREIGN_H
#define MSD_ARTIFACT_ELF_FOREIGN_H
/*
 * Recognise model files of other programs, which modserd does not load, and say how
 * their model can be served.
 */
#include "proto/base/bytes.h"

struct msd_foreign {
	const char *title;  /* "a PyTorch state_dict" */
	const char *advice; /* a command, or what the file lacks */
};

/**
 * Recognise @file by its content. NULL: unknown. Reads at most the first and last
 * 64 KiB, and the central directory of a zip archive.
 */
const struct msd_foreign *msd_foreign_find(struct msd_span file);

#endif
