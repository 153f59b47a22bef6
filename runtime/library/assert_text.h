#ifndef MSD_RUNTIME_LIBRARY_ASSERT_TEXT_H
#define MSD_RUNTIME_LIBRARY_ASSERT_TEXT_H
/*
 * Numbers in the assertion texts of compiled code. Most releases have their own
 * format for the constraint on an extent or a device:
 *
 *   0.6, 0.7   Assert fail: (int32(arg0.shape[1]) == 64), Argument
 *              arg0.shape[1] has an unsatisfied constraint
 *   0.8        ... unsatisfied constraint: (64 == int32(arg0.shape[1]))
 *   later      ... unsatisfied constraint: T.int64(64) == f_A_shape[1]
 */
#include "proto/base/bytes.h"

/** Decimal digits at the beginning of @s; false if there are none. */
bool msd_text_number(struct msd_span s, int64_t *ret);
/**
 * The number on one side of the constraint in @text (a whole message). @at points
 * into it, after "has an unsatisfied constraint". False if neither side is a plain
 * number.
 */
bool msd_text_constraint(const char *text, const char *at, int64_t *ret);

#endif
