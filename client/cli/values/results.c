/*
 * Happy path: the tuples of the answers are flattened into one list. The first
 * results are checked against the -o options before any file is written. Then they
 * are written as .npy and the rest is printed; it goes to stderr if a file goes to
 * standard output.
 */
#include "client/cli/values/results.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "client/cli/measure/trace.h"
#include "client/cli/values/file.h"
#include "client/cli/values/json.h"
#include "client/cli/values/npy.h"
#include "client/cli/values/print.h"
#include "client/cli/verbs/report.h"
#include "proto/base/grow.h"
#include "proto/base/json.h"

/* Flatten tuples depth first. */
static bool add(struct msd_results *r, const modser_value *v)
{
	if (v->kind == MODSER_TUPLE) {
		for (size_t i = 0; i < v->as.tuple.n; i++) {
			if (!add(r, &v->as.tuple.item[i]))
				return false;
		}
		return true;
	}
	if (!msd_grow(&r->item, r->n, sizeof(const modser_value *)))
		return false;
	r->item[r->n++] = v;
	return true;
}

enum msd_exit msd_results_add(struct msd_results *r, const modser_value *answer)
{
	const modser_value *item = answer->as.tuple.item;

	if (answer->kind != MODSER_TUPLE || answer->as.tuple.n != 2 ||
	    item[0].kind != MODSER_TUPLE) {
		modser_error e = {.code = MODSER_PROTOCOL,
				  .name = "PROTOCOL",
				  .message = "the answer to a call is not [[out...], "
					     "return]",
				  .hint = "check that the address belongs to modserd"};

		return msd_report_error(&e);
	}
	if (!add(r, &item[0]) || (item[1].kind != MODSER_NIL && !add(r, &item[1])))
		return msd_report_no_memory();
	return MSD_EXIT_OK;
}

void msd_results_finish(struct msd_results *r)
{
	free(r->item);
}

/* Make the file of @v: a header and the data after it; false: @v cannot be stored. */
static bool file_of(const modser_value *v, struct msd_buf *head, struct msd_span *data)
{
	modser_tensor t = {.dtype = {.bits = 64, .lanes = 1}, .bytes = 8};
	int64_t dim;

	switch ((int)v->kind) {
	case MODSER_TENSOR:
		t = v->as.tensor;
		break;
	case MODSER_INT: /* DLPack's code 0; only little-endian hosts are supported */
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
	case MODSER_SHAPE: /* one-dimensional array of its extents */
		dim = v->as.shape.ndim;
		t.ndim = 1;
		t.shape = &dim;
		t.bytes = 8 * (uint64_t)dim;
		t.data = (void *)(uintptr_t)v->as.shape.dim;
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

/* Name for people of a value that cannot be stored in a file. */
static const char *noun_of(const modser_value *v)
{
	switch ((int)v->kind) {
	case MODSER_NIL:
		return "nothing";
	case MODSER_DTYPE:
		return "a dtype";
	case MODSER_DEVICE:
		return "a device";
	case MODSER_MAP:
		return "a map";
	default:
		return "an object that stays in the daemon";
	}
}

/* Check before any write that every -o has a result that can be written. */
static enum msd_exit check_outputs(const struct msd_results *r,
				   const struct msd_cli *cli)
{
	if (cli->n_outputs > r->n) {
		return msd_report_usage("give one -o for each result, or none",
					"%zu file%s for %zu result%s", cli->n_outputs,
					cli->n_outputs == 1 ? "" : "s", r->n,
					r->n == 1 ? "" : "s");
	}
	for (size_t i = 0; i < cli->n_outputs; i++) {
		struct msd_buf head = {0};
		struct msd_span data;
		bool can = file_of(r->item[i], &head, &data);

		msd_buf_finish(&head);
		if (!can) {
			return msd_report_usage(
				"omit -o to print the result; --json prints it for "
				"programs",
				"%s: result %zu is %s, which cannot be written as .npy",
				cli->outputs[i], i + 1, noun_of(r->item[i]));
		}
	}
	return MSD_EXIT_OK;
}

static enum msd_exit write_outputs(const struct msd_results *r,
				   const struct msd_cli *cli)
{
	struct msd_diag d = {0};

	for (size_t i = 0; i < cli->n_outputs; i++) {
		struct msd_buf head = {0};
		struct msd_span pieces[2];

		if (!file_of(r->item[i], &head, &pieces[1]))
			return msd_report_no_memory();
		pieces[0] = (struct msd_span){head.p, head.n};
		msd_err err = msd_file_write(cli->outputs[i], pieces, 2, &d);
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

static void put_json(const struct msd_results *r, const struct msd_cli *cli,
		     struct msd_buf *out)
{
	msd_buf_printf(out, "{\"results\": [");
	for (size_t i = 0; i < r->n; i++) {
		const modser_value *v = r->item[i];

		if (i > 0)
			msd_buf_printf(out, ", ");
		if (i >= cli->n_outputs) {
			msd_json_put_value(out, v);
			continue;
		}
		msd_buf_printf(out, "{\"file\": ");
		msd_json_cstr(out, cli->outputs[i]);
		if (v->kind == MODSER_TENSOR) {
			msd_buf_printf(out, ", ");
			msd_json_put_type(out, &v->as.tensor);
		}
		msd_buf_put_u8(out, '}');
	}
	msd_buf_put_u8(out, ']');
	if (r->has_trace) {
		msd_buf_printf(out, ", \"trace\": ");
		msd_trace_json(out, &r->trace);
	}
	msd_buf_printf(out, "}\n");
}

static bool writes_to_stdout(const struct msd_cli *cli)
{
	for (size_t i = 0; i < cli->n_outputs; i++) {
		if (strcmp(cli->outputs[i], "-") == 0)
			return true;
	}
	return false;
}

/* Print a single text with its line breaks. If there are several results, each takes
 * one line. */
static void put_result(const modser_value *v, bool is_only, bool for_people,
		       struct msd_buf *out)
{
	if (is_only && v->kind == MODSER_STR) {
		msd_print_text(out, v->as.str.p, v->as.str.n);
		return;
	}
	msd_print_value(out, v, for_people);
	msd_buf_put_u8(out, '\n');
}

/* Print the results without -o; on stderr if a file goes to standard output. */
static void print_rest(const struct msd_results *r, const struct msd_cli *cli)
{
	bool for_people = msd_print_for_people();
	struct msd_buf out = {0};

	if (cli->json)
		put_json(r, cli, &out);
	for (size_t i = cli->n_outputs; i < r->n && !cli->json; i++)
		put_result(r->item[i], r->n - cli->n_outputs == 1, for_people, &out);
	if (writes_to_stdout(cli)) {
		msd_print_flush_to(&out, stderr);
		return;
	}
	msd_print_flush(&out);
}

/* On stderr, because another program may read the results. */
static void print_trace(const modser_trace *t)
{
	struct msd_buf out = {0};

	msd_trace_put(&out, t, isatty(STDERR_FILENO) != 0);
	msd_print_flush_to(&out, stderr);
}

enum msd_exit msd_results_put(const struct msd_results *r, const struct msd_cli *cli)
{
	enum msd_exit code = check_outputs(r, cli);

	if (code == MSD_EXIT_OK)
		code = write_outputs(r, cli);
	if (code == MSD_EXIT_OK)
		print_rest(r, cli);
	if (code == MSD_EXIT_OK && r->has_trace && !cli->json)
		print_trace(&r->trace);
	return code;
}
