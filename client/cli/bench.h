#ifndef MSD_CLI_BENCH_H
#define MSD_CLI_BENCH_H
/* What `modser bench` measures with, and what it has measured. Private to it. */
#include "client/cli/arguments.h"
#include "client/cli/load_run.h"
#include "client/cli/made_word.h"
#include "client/cli/parameters.h"
#include "client/cli/rate_run.h"
#include "client/cli/stages.h"

#define MSD_BENCH_CLIENTS 256u

struct msd_bench {
	const struct msd_cli *cli;
	modser_client *clients[MSD_BENCH_CLIENTS];
	struct msd_parameters parameters;
	char (*made)[MSD_MADE_WORD_MAX]; /* words of the signature; owned */
	const char **words;              /* owned; what the arguments are parsed from */
	size_t n_words;
	struct msd_arguments args;
	struct msd_load_run run;            /* without --rate */
	struct msd_rate_run at_rate;        /* with it */
	uint32_t deadline_ms;               /* of each call at a rate */
	uint64_t ping_ns[2];                /* before and behind */
	int64_t calls_before, calls_behind; /* of the module; -1: not known */
	struct msd_stages stages;           /* of calls behind those that count */
};

/** Print the figures, which are there, as a map. Sorts the samples. */
void msd_bench_tell(struct msd_bench *b);

#endif
