#ifndef MSD_CLIENT_KEPT_ANSWER_H
#define MSD_CLIENT_KEPT_ANSWER_H
/*
 * What an answer was decoded to, kept for the next one with the same bytes: one block,
 * which is copied instead of walked. Only a small one has a copy, for which its result
 * has room itself, and none with a tensor: its data is each caller's own.
 */
#include "client/modser.h"

struct msd_kept_answer;

/** A copy of the value that @r was decoded to, which has no tensor; one block of
 * *@ret_bytes, to be freed. NULL: it is large, or memory is short. */
struct msd_kept_answer *msd_kept_answer_create(const modser_result *r,
					       size_t *ret_bytes);
/** Give @r, a result that has no value yet, the one that is kept. */
void msd_kept_answer_copy(const struct msd_kept_answer *k, modser_result *r);

#endif
