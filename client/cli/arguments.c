#include "client/cli/arguments.h"

#include <stdlib.h>

#include "client/cli/report.h"
#include "client/cli/word.h"

static enum msd_exit report(const struct msd_diag *d)
{
	const bool is_file = d->code == MSD_NOT_FOUND || d->code == MSD_IO;

	return msd_report_diag(MSD_EXIT_USAGE,
			       is_file ? "check the file's name and rights"
				       : "`modser help call` lists the forms",
			       d);
}

enum msd_exit msd_arguments_parse(const char *const *words, size_t n,
				  struct msd_arguments *ret)
{
	struct msd_diag d = {0};
	msd_err err = MSD_OK;

	*ret = (struct msd_arguments){.words = calloc(n + 1, sizeof(*ret->words)),
				      .values = calloc(n + 1, sizeof(*ret->values)),
				      .names = calloc(n + 1, sizeof(const char *))};
	if (ret->words == NULL || ret->values == NULL || ret->names == NULL)
		return msd_report_no_memory();
	while (ret->n < n && err == MSD_OK) {
		struct msd_word *w = &ret->words[ret->n];

		err = msd_word_parse(words[ret->n], w, &d);
		ret->values[ret->n] = w->value;
		ret->names[ret->n++] = w->name;
		ret->has_names |= w->name != NULL;
	}
	enum msd_exit code = err == MSD_OK ? MSD_EXIT_OK : report(&d);
	msd_diag_finish(&d);
	return code;
}

enum msd_exit msd_arguments_call(const struct msd_arguments *a, modser_client *client,
				 const char *function, modser_options options,
				 modser_result **ret)
{
	options.names = a->has_names ? a->names : NULL;
	if (modser_call(client, function, a->values, a->n, &options, ret) == MODSER_OK)
		return MSD_EXIT_OK;
	return msd_report_result(client, *ret);
}

void msd_arguments_finish(struct msd_arguments *a)
{
	for (size_t i = 0; i < a->n; i++)
		msd_word_finish(&a->words[i]);
	free(a->words);
	free(a->values);
	free(a->names);
}
