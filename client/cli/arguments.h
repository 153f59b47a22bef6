#ifndef MSD_CLI_ARGUMENTS_H
#define MSD_CLI_ARGUMENTS_H
/* The arguments of one call, parsed from words of the command line. */
#include "client/cli/cli.h"
#include "client/modser.h"

struct msd_arguments {
	struct msd_word *words; /* what the values lie in */
	modser_value *values;
	const char **names;       /* of their parameters, where they have one */
	const char *const *texts; /* the words themselves; borrowed */
	size_t n;
	bool has_names;
};

/** Parse @n words of @cli; reports what is wrong with one, or with the name of what is
 * to be called with them. End with msd_arguments_finish() in every case. */
enum msd_exit msd_arguments_parse(const struct msd_cli *cli, const char *const *words,
				  size_t n, struct msd_arguments *ret);
struct msd_parameters;
/** What @s knows of the parameter that argument @at is for; NULL: nothing. */
const modser_value *msd_arguments_param(const struct msd_arguments *a,
					const struct msd_parameters *s, size_t at);
/** Give what is written out without a dtype the one that the signature of @function
 * has there; reports an error. */
enum msd_exit msd_arguments_set_types(struct msd_arguments *a, modser_client *client,
				      const char *function, uint32_t deadline_ms);
/** Call @function ("module:function") with them; reports an error. The caller frees
 * *@ret in every case. */
enum msd_exit msd_arguments_call(struct msd_arguments *a, modser_client *client,
				 const char *function, modser_options options,
				 modser_result **ret);
/** Report why @answer, to a call of @function with them, is an error, and what to write
 * instead where the arguments are at fault. */
enum msd_exit msd_arguments_report(const struct msd_arguments *a, modser_client *client,
				   const char *function, uint32_t deadline_ms,
				   const modser_result *answer);
/** Start the same, with types that were given before; reports an error. */
enum msd_exit msd_arguments_start(struct msd_arguments *a, modser_client *client,
				  const char *function, modser_options options,
				  uint64_t *ret_id);
void msd_arguments_finish(struct msd_arguments *a);

#endif
