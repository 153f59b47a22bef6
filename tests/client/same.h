#ifndef MSD_TESTS_SAME_H
#define MSD_TESTS_SAME_H
#include "client/modser.h"

/** Both have the same value and time, or the same error. Data of tensors is not
 * looked at. */
bool same_result(const modser_result *a, const modser_result *b);

#endif
