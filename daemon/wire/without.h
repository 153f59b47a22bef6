#ifndef MSD_WIRE_WITHOUT_H
#define MSD_WIRE_WITHOUT_H
#include <stdbool.h>

/** Whether MODSERD_WITHOUT, words with commas between them, names @what: an
 * optimisation, or the counting of calls, that this process does without. For measuring
 * and tests; answers are the same. */
bool msd_without(const char *what);

#endif
