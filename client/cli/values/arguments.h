#ifndef MSD_CLI_ARGUMENTS_H
#define MSD_CLI_ARGUMENTS_H
/* The arguments of one call, parsed from words of the command line. */
#include "client/cli/cli.h"
#include "client/modser.h"

struct msd_arguments {
	struct msd_word *words; /* storage of the values */
	modser_value *values;
	const char **names;       /* parameter names, where given */
	const char *const *texts; /* the words; borrowed */
	size_t *objects;          /* msd_arguments_named of each word */
	size_t n;
	bool has_names;
};

/**
 * Parse @n words of @cli; reports an error in a word, or in the name of the target.
 * End with msd_arguments_finish() in every case.
 */
enum msd_exit msd_arguments_parse(const struct msd_cli *cli, const char *const *words,
				  size_t n, struct msd_arguments *ret);
/** 1 + number of the result that is called @word; 0: the word is an ordinary one. */
typedef size_t (*msd_arguments_named)(const void *ctx, const char *word);
/** The same; the caller sets the values of words that @named knows. */
enum msd_exit msd_arguments_parse_with(const struct msd_cli *cli,
				       const char *const *words, size_t n,
				       msd_arguments_named named, const void *ctx,
				       struct msd_arguments *ret);
struct msd_parameters;
/** Description in @s of the parameter of argument @at; NULL: unknown. */
const modser_value *msd_arguments_param(const struct msd_arguments *a,
					const struct msd_parameters *s, size_t at);
/** Give values without a dtype the one of @function's signature; reports an error. */
enum msd_exit msd_arguments_set_types(struct msd_arguments *a, modser_client *client,
				      const char *function, uint32_t deadline_ms);
/**
 * Call @function ("module:function") with them; reports an error. The caller frees
 * *@ret in every case.
 */
enum msd_exit msd_arguments_call(struct msd_arguments *a, modser_client *client,
				 const char *function, modser_options options,
				 modser_result **ret);
/** The same for the function object @function, whose signature is not known. */
enum msd_exit msd_arguments_call_value(struct msd_arguments *a, modser_client *client,
				       const modser_value *function,
				       modser_options options, modser_result **ret);
/** The same with the method module.profile. */
enum msd_exit msd_arguments_profile(struct msd_arguments *a, modser_client *client,
				    const char *function, modser_options options,
				    modser_result **ret);
/**
 * Report the error in @answer, a call of @function with these arguments, and suggest
 * corrected arguments if they caused it.
 */
enum msd_exit msd_arguments_report(const struct msd_arguments *a, modser_client *client,
				   const char *function, uint32_t deadline_ms,
				   const modser_result *answer);
/** Start the same call; the dtypes must be set; reports an error. */
enum msd_exit msd_arguments_start(struct msd_arguments *a, modser_client *client,
				  const char *function, modser_options options,
				  uint64_t *ret_id);
void msd_arguments_finish(struct msd_arguments *a);

#endif
