#ifndef MSD_CLI_RESULTS_H
#define MSD_CLI_RESULTS_H
/* What calls gave, flattened: the k-th goes to the k-th -o, the others are printed. */
#include "client/cli/cli.h"
#include "client/modser.h"

struct msd_results {
	const modser_value **item; /* borrowed from the answers */
	size_t n, cap;
	bool has_trace; /* of the call: it is printed behind them */
	modser_trace trace;
};

/** Append the results of @answer, a call's [[out...], return]; reports an error. */
enum msd_exit msd_results_add(struct msd_results *r, const modser_value *answer);
/** Write and print them; reports an error. Nothing is written when a -o has no result.
 */
enum msd_exit msd_results_put(const struct msd_results *r, const struct msd_cli *cli);
void msd_results_finish(struct msd_results *r);

#endif
