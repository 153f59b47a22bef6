#ifndef MSD_CLI_BENCH_H
#define MSD_CLI_BENCH_H
/* Settings and measurements of `modser bench`. Private to it. */
#include "client/cli/measure/load_run.h"
#include "client/cli/measure/rate_run.h"
#include "client/cli/measure/stages.h"
#include "client/cli/values/arguments.h"
#include "client/cli/values/generator_word.h"
#include "client/cli/values/parameters.h"

#define MSD_BENCH_CLIENTS 256u

struct msd_bench {
	const struct msd_cli *cli;
	const char *function; /* NAME:FUNC */
	modser_client *clients[MSD_BENCH_CLIENTS];
	struct msd_parameters parameters;
	char (*made)[MSD_GENERATOR_WORD_MAX]; /* words made from the signature; owned */
	const char **words;                   /* owned; the words that are parsed */
	size_t n_words;
	struct msd_arguments args;
	struct msd_load_run run;            /* used without --rate */
	struct msd_rate_run at_rate;        /* with --rate */
	uint32_t deadline_ms;               /* for each call with --rate */
	uint64_t ping_ns[2];                /* ping before and after */
	int64_t calls_before, calls_behind; /* of the module; -1: unknown */
	struct msd_stages stages; /* of traced calls after the measured ones */
};

/** Print the measured figures as a map. Sorts the samples. */
void msd_bench_tell(struct msd_bench *b);

#endif
