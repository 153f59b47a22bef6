#ifndef MSD_CLI_STEPS_H
#define MSD_CLI_STEPS_H
/*
 * The calls of `modser call`, "FUNCTION [ARGUMENT...] [as WORD] then ...": a later call
 * names the result of an earlier one by its WORD, as an argument or as its function.
 */
#include "client/cli/values/arguments.h"
#include "client/cli/values/results.h"

struct msd_step {
	const char *target; /* borrowed */
	const char *as;     /* WORD of its result; NULL: none */
	size_t object; /* 1 + number of the step that made its function; 0: named */
	struct msd_arguments args;
	modser_result *answer; /* owned; NULL: none yet */
};

struct msd_steps {
	struct msd_step *all;
	size_t n;
	size_t n_begun; /* the last of these may have failed */
};

/** Parse the words of @cli; reports an error. End with msd_steps_finish() in any case.
 */
enum msd_exit msd_steps_parse(const struct msd_cli *cli, struct msd_steps *ret);
/** Make the calls, one after the other, up to the first that fails; reports an error.
 */
enum msd_exit msd_steps_call(struct msd_steps *s, modser_client *client,
			     const modser_options *options);
/** Answer of the last step that was begun, borrowed; NULL: none. */
const modser_result *msd_steps_answer(const struct msd_steps *s);
/** Forget all answers. */
void msd_steps_clear(struct msd_steps *s);
/** Add the results without a WORD, and the last one. */
enum msd_exit msd_steps_add_results(const struct msd_steps *s,
				    struct msd_results *results);
void msd_steps_finish(struct msd_steps *s);

#endif
