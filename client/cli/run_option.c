#include "client/cli/run_option.h"

#include "client/cli/verbs/report.h"

static const char *hint_of(enum msd_run_key_id id)
{
	if (id == MSD_RUN_DEVICE_KEY)
		return "`modser devices` lists them";
	if (id == MSD_RUN_FORMAT_KEY || id == MSD_RUN_INPUT_KEY)
		return "`modser inspect FILE` shows a model's format and inputs";
	return "`modser load --help` explains the options of a load";
}

enum msd_exit msd_run_option_apply(struct msd_cli *cli, enum msd_run_key_id id,
				   const char *value)
{
	const char *text = value != NULL ? value : "yes";
	struct msd_diag d = {0};
	enum msd_exit code = MSD_EXIT_OK;

	if (msd_run_option_parse(&msd_run_keys[id], msd_span_of(text), &cli->run, &d) !=
	    MSD_OK)
		code = msd_report_usage(hint_of(id), "--%s", msd_diag_text(&d));
	msd_diag_finish(&d);
	if (id == MSD_RUN_DEVICE_KEY)
		cli->device = value;
	return code;
}

static uint32_t ms_of(struct msd_given_ms t)
{
	return (uint32_t)t.ms; /* the parser has a limit */
}

/* modser.h: 0 is not given, and below 0 is no limit. */
static int64_t signed_ms_of(struct msd_given_ms t)
{
	return !t.is_given ? 0 : t.ms > 0 ? (int64_t)t.ms : -1;
}

#define GET_DEVICES(cli, member, list, field) (cli)->device
#define GET_COUNT(cli, member, list, field) (cli)->run.member
#define GET_WORD(cli, member, list, field) (list)->words[(cli)->run.member]
#define GET_FLAG(cli, member, list, field) (cli)->run.member
#define GET_TIME(cli, member, list, field)                                             \
	_Generic(field, uint32_t : ms_of, int64_t : signed_ms_of)((cli)->run.member)
#define GET_TEXT(cli, member, list, field) msd_model_word((cli)->run.member)
#define COPY(NAME, member, KIND, list, fronts, key, former, wire, field, ...)          \
	ret->field = GET_##KIND(cli, member, list, ret->field);

void msd_run_option_to_load(const struct msd_cli *cli, modser_load_options *ret)
{
	MSD_RUN_CLIENT_KEY_MAP(COPY)
}

void msd_run_option_to_pull(const struct msd_cli *cli, modser_pull_options *ret)
{
	MSD_RUN_CLIENT_KEY_MAP(COPY)
}
