#ifndef MSD_CLI_RESULTS_H
#define MSD_CLI_RESULTS_H
/* Collects the results of calls, flattened: the k-th goes to the k-th -o, the rest is
 * printed. */
#include "client/cli/cli.h"
#include "client/modser.h"

struct msd_results {
	const modser_value **item; /* borrowed from the answers */
	size_t n;
	bool has_trace; /* trace of the call, printed after them */
	modser_trace trace;
};

/** Append the results of @answer, the [[out...], return] of a call; reports an error.
 */
enum msd_exit msd_results_add(struct msd_results *r, const modser_value *answer);
/** Write and print them; reports an error. Nothing is written if a -o has no result. */
enum msd_exit msd_results_put(const struct msd_results *r, const struct msd_cli *cli);
void msd_results_finish(struct msd_results *r);

#endif
