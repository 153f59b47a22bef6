/* call: words -> arguments, one round trip, results -> files and text. */
#include <stdlib.h>
#include <string.h>

#include "client/cli/file.h"
#include "client/cli/json.h"
#include "client/cli/print.h"
#include "client/cli/report.h"
#include "client/cli/session.h"
#include "client/cli/word.h"
#include "proto/json.h"
#include "proto/name.h"

struct call {
	const struct msd_cli *cli;
	struct msd_word *words; /* the arguments */
	modser_value *args;
	const char **names; /* of their parameters; NULL without */
	size_t n_args;
	bool has_names;
	modser_result *result;
	const modser_value **results; /* flattened */
	size_t n_results, cap_results;
};

static enum msd_exit no_memory(void)
{
	return msd_report_usage("free memory", "out of memory");
}

static enum msd_exit parse_words(struct call *c)
{
	const struct msd_cli *cli = c->cli;
	const char *target = cli->words[0];
	struct msd_span module, function;
	struct msd_diag d = {0};

	if (!msd_target_split(
		    (struct msd_span){(const uint8_t *)target, strlen(target)}, &module,
		    &function))
		return msd_report_usage("modser call NAME:FUNC, see `modser ls`",
					"\"%s\" is not NAME:FUNC", target);
	c->words = calloc(cli->n_words, sizeof(*c->words));
	c->args = calloc(cli->n_words, sizeof(*c->args));
	c->names = calloc(cli->n_words, sizeof(const char *));
	if (c->words == NULL || c->args == NULL || c->names == NULL)
		return no_memory();
	for (size_t i = 1; i < cli->n_words; i++) {
		msd_err err = msd_word_parse(cli->words[i], &c->words[c->n_args], &d);

		if (err != MSD_OK) {
			enum msd_exit code = msd_report_diag(
				MSD_EXIT_USAGE, "`modser help call` lists the forms",
				&d);
			c->n_args++;
			msd_diag_finish(&d);
			return code;
		}
		c->args[c->n_args] = c->words[c->n_args].value;
		c->names[c->n_args] = c->words[c->n_args].name;
		c->has_names |= c->names[c->n_args] != NULL;
		c->n_args++;
	}
	return MSD_EXIT_OK;
}

static enum msd_exit send_call(struct call *c)
{
	modser_options options = {.deadline_ms = c->cli->deadline_ms,
				  .names = c->has_names ? c->names : NULL,
				  .device = c->cli->device};
	modser_client *client;
	enum msd_exit code = msd_session_open(c->cli, &client);

	if (code != MSD_EXIT_OK)
		return code;
	if (modser_call(client, c->cli->words[0], c->args, c->n_args, &options,
			&c->result) != MODSER_OK)
		code = msd_report_result(client, c->result);
	modser_close(client);
	return code;
}

/* Tuples are flattened depth first. */
static bool add_result(struct call *c, const modser_value *v)
{
	if (v->kind == MODSER_TUPLE) {
		for (size_t i = 0; i < v->as.tuple.n; i++)
			if (!add_result(c, &v->as.tuple.item[i]))
				return false;
		return true;
	}
	if (c->n_results == c->cap_results) {
		size_t cap = c->cap_results == 0 ? 8 : 2 * c->cap_results;
		const modser_value **grown =
			realloc(c->results, cap * sizeof(const modser_value *));

		if (grown == NULL)
			return false;
		c->results = grown;
		c->cap_results = cap;
	}
	c->results[c->n_results++] = v;
	return true;
}

static enum msd_exit find_results(struct call *c)
{
	const modser_value *v = modser_result_value(c->result);
	const modser_value *item = v->as.tuple.item;

	if (v->kind != MODSER_TUPLE || v->as.tuple.n != 2 ||
	    item[0].kind != MODSER_TUPLE) {
		modser_error e = {.code = MODSER_PROTOCOL,
				  .name = "PROTOCOL",
				  .message = "the answer to a call is not [[out...], "
					     "return]",
				  .hint = "check that the address is modserd's"};

		return msd_report_error(&e);
	}
	if (!add_result(c, &item[0]) ||
	    (item[1].kind != MODSER_NIL && !add_result(c, &item[1])))
		return no_memory();
	return MSD_EXIT_OK;
}

/* What @v becomes in a file: a header and the data behind it; false when it cannot. */
static bool file_of(const modser_value *v, struct msd_buf *head, struct msd_span *data)
{
	modser_tensor t = {.dtype = {.bits = 64, .lanes = 1}, .bytes = 8};

	switch ((int)v->kind) {
	case MODSER_TENSOR:
		t = v->as.tensor;
		break;
	case MODSER_INT: /* DLPack's code 0; little-endian hosts alone are served */
		t.data = (void *)(uintptr_t)&v->as.i;
		break;
	case MODSER_FLOAT:
		t.dtype.code = MSD_DT_FLOAT;
		t.data = (void *)(uintptr_t)&v->as.f;
		break;
	case MODSER_BOOL:
		t.dtype = (modser_dtype){MSD_DT_BOOL, 8, 1};
		t.bytes = 1;
		t.data = (void *)(uintptr_t)&v->as.b;
		break;
	case MODSER_STR:
	case MODSER_BYTES:
		*data = (struct msd_span){(const uint8_t *)v->as.str.p, v->as.str.n};
		return true;
	default:
		return false;
	}
	msd_npy_put_header(
		head, (struct msd_dtype){t.dtype.code, t.dtype.bits, t.dtype.lanes},
		t.shape, t.ndim, t.bytes);
	*data = (struct msd_span){t.data, (size_t)t.bytes};
	return !head->bad;
}

/* Before anything is written: every -o has a result that can be written. */
static enum msd_exit check_outputs(const struct call *c)
{
	const struct msd_cli *cli = c->cli;

	if (cli->n_outputs > c->n_results)
		return msd_report_usage("give one -o for each result, or none",
					"%zu files for %zu result%s", cli->n_outputs,
					c->n_results, c->n_results == 1 ? "" : "s");
	for (size_t i = 0; i < cli->n_outputs; i++) {
		struct msd_buf head = {0};
		struct msd_span data;
		bool can = file_of(c->results[i], &head, &data);

		msd_buf_finish(&head);
		if (!can)
			return msd_report_usage(
				"leave out -o: the result is printed",
				"%s: result %zu is neither tensor, number nor text",
				cli->outputs[i], i + 1);
	}
	return MSD_EXIT_OK;
}

static enum msd_exit write_outputs(const struct call *c)
{
	struct msd_diag d = {0};

	for (size_t i = 0; i < c->cli->n_outputs; i++) {
		struct msd_buf head = {0};
		struct msd_span pieces[2];

		if (!file_of(c->results[i], &head, &pieces[1]))
			return no_memory();
		pieces[0] = (struct msd_span){head.p, head.n};
		msd_err err = msd_file_write(c->cli->outputs[i], pieces, 2, &d);
		msd_buf_finish(&head);
		if (err == MSD_OK)
			continue;
		enum msd_exit code =
			msd_report_diag(MSD_EXIT_USAGE, "give another file to -o", &d);
		msd_diag_finish(&d);
		return code;
	}
	return MSD_EXIT_OK;
}

static void put_json(const struct call *c, struct msd_buf *out)
{
	msd_buf_printf(out, "{\"results\": [");
	for (size_t i = 0; i < c->n_results; i++) {
		const modser_value *v = c->results[i];

		if (i > 0)
			msd_buf_printf(out, ", ");
		if (i >= c->cli->n_outputs) {
			msd_json_put_value(out, v);
			continue;
		}
		msd_buf_printf(out, "{\"file\": ");
		msd_json_cstr(out, c->cli->outputs[i]);
		if (v->kind == MODSER_TENSOR) {
			msd_buf_printf(out, ", ");
			msd_json_put_type(out, &v->as.tensor);
		}
		msd_buf_put_u8(out, '}');
	}
	msd_buf_printf(out, "]}\n");
}

static bool writes_to_stdout(const struct msd_cli *cli)
{
	for (size_t i = 0; i < cli->n_outputs; i++)
		if (strcmp(cli->outputs[i], "-") == 0)
			return true;
	return false;
}

/* What has no -o; on stderr when standard output carries a file. */
static void print_rest(const struct call *c)
{
	bool for_people = msd_print_for_people();
	struct msd_buf out = {0};

	if (c->cli->json)
		put_json(c, &out);
	for (size_t i = c->cli->n_outputs; i < c->n_results && !c->cli->json; i++) {
		msd_print_value(&out, c->results[i], for_people);
		msd_buf_put_u8(&out, '\n');
	}
	if (writes_to_stdout(c->cli)) {
		msd_print_flush_to(&out, stderr);
		return;
	}
	msd_print_flush(&out);
}

enum msd_exit msd_verb_call(const struct msd_cli *cli)
{
	struct call c = {.cli = cli};
	enum msd_exit code = parse_words(&c);

	if (code == MSD_EXIT_OK)
		code = send_call(&c);
	if (code == MSD_EXIT_OK)
		code = find_results(&c);
	if (code == MSD_EXIT_OK)
		code = check_outputs(&c);
	if (code == MSD_EXIT_OK)
		code = write_outputs(&c);
	if (code == MSD_EXIT_OK)
		print_rest(&c);
	modser_result_free(c.result);
	free(c.results);
	for (size_t i = 0; i < c.n_args; i++)
		msd_word_finish(&c.words[i]);
	free(c.words);
	free(c.args);
	free(c.names);
	return code;
}
