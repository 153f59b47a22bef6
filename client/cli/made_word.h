#ifndef MSD_CLI_MADE_WORD_H
#define MSD_CLI_MADE_WORD_H
/* Arguments made of a function's signature, as words of the command line. */
#include "client/modser.h"

#define MSD_MADE_WORD_MAX 512u /* bytes, incl. NUL */

/** The word that makes an argument for @param, of the map of a parameter: "rand:..."
 * or, for one that is filled, "out:...". False: it cannot be made. */
bool msd_made_word(const modser_value *param, bool is_out, char ret[MSD_MADE_WORD_MAX]);

#endif
