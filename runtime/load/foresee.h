#ifndef MSD_RUNTIME_LOAD_FORESEE_H
#define MSD_RUNTIME_LOAD_FORESEE_H
/* Properties of an artifact that are known before it is opened. */
#include "proto/base/bytes.h"
#include "proto/dtype.h"
#include "proto/words/abi_word.h"

/**
 * The default device of @file: the first that it has code for. The CPU if it has no
 * device code or cannot be loaded.
 */
struct msd_device msd_foresee_device(struct msd_span file, enum msd_abi_word era);

#endif
