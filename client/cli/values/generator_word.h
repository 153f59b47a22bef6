#ifndef MSD_CLI_GENERATOR_WORD_H
#define MSD_CLI_GENERATOR_WORD_H
/* Makes arguments from a function's signature, as words of the command line. */
#include "client/modser.h"

#define MSD_GENERATOR_WORD_MAX 512u /* bytes, including NUL */

/**
 * Make the word for @param, a parameter's map: "rand:..." or, for an output,
 * "out:...". False: not possible.
 */
bool msd_generator_word(const modser_value *param, bool is_out,
			char ret[MSD_GENERATOR_WORD_MAX]);

#endif
