/*
 * A virtual machine's program in a file of its own, as executables of TVM write
 * themselves (of Relay `mod.ro`). What it runs is in its library, so it is not loaded
 * alone; what it says of itself is told.
 */
#include "artifact/inspect/companion.h"
#include "artifact/json.h"
#include "artifact/kind/look.h"
#include "client/cli/formats.h"

/* As what a file can be read: the same bytes as in a library, where some have their
 * number in front. */
static const struct row {
	const char *kind, *title;
	enum msd_era era;
	bool has_length;
} rows[] = {
	{"relax.VMExecutable", "Relax VM program", MSD_ERA_FFI, false},
	{"relax.Executable", "Relax VM program", MSD_ERA_CLASSIC, true},
	{"VMExecutable", "Relay VM program", MSD_ERA_CLASSIC, true},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

static bool is_program(const char *path, struct msd_span file)
{
	(void)path;
	return msd_companion_of(file) == MSD_COMPANION_PROGRAM;
}

static struct msd_span payload_of(const struct row *row,
				  const struct msd_buf *with_length)
{
	const size_t skip = row->has_length ? 0 : sizeof(uint64_t);

	return (struct msd_span){with_length->p + skip, with_length->n - skip};
}

static msd_err read_as(const struct row *row, const struct msd_buf *with_length,
		       struct msd_model *m, struct msd_diag *d)
{
	struct msd_gpu_code none = {0};
	const msd_err err =
		msd_look_find(msd_span_of(row->kind))
			->read(payload_of(row, with_length), row->era, &none, m, d);

	msd_gpu_code_finish(&none);
	return err;
}

/* The first row as which it can be read. Where there is none, what is wrong with it as
 * the first that knows its version. */
static msd_err find_row(const struct msd_buf *with_length, const struct row **ret,
			struct msd_model *m, struct msd_diag *d)
{
	msd_err err = MSD_UNSUPPORTED;

	for (size_t i = 0; i < N_ROWS; i++) {
		struct msd_diag why = {0};
		const msd_err now = read_as(&rows[i], with_length, m, &why);

		if (now == MSD_OK || err == MSD_UNSUPPORTED) {
			msd_diag_finish(d);
			*d = why;
			err = now;
		} else {
			msd_diag_finish(&why);
		}
		*ret = &rows[i];
		if (now == MSD_OK)
			return MSD_OK;
		msd_model_finish(m);
		*m = (struct msd_model){0};
	}
	return err;
}

static msd_err list(const struct row *row, const struct msd_buf *with_length,
		    struct msd_buf *out, struct msd_diag *d)
{
	return msd_look_find(msd_span_of(row->kind))
		->list(payload_of(row, with_length), row->era, out, d);
}

static msd_err inspect(const struct msd_cli *cli, struct msd_span file,
		       struct msd_buf *out, struct msd_diag *d)
{
	struct msd_buf with_length = {0};
	const struct row *row = NULL;
	uint8_t n[sizeof(uint64_t)];
	struct msd_model m = {0};
	msd_err err;

	file = msd_companion_program(file);
	msd_put_le64(n, file.n);
	msd_buf_put(&with_length, n, sizeof(n));
	msd_buf_put(&with_length, file.p, file.n);
	err = with_length.bad ? msd_diag_no_memory(d)
			      : find_row(&with_length, &row, &m, d);
	if (err == MSD_OK && cli->vm) {
		err = list(row, &with_length, out, d);
	} else if (err == MSD_OK && cli->json) {
		msd_json_put(out, msd_model_json(&m), JSON_COMPACT);
	} else if (err == MSD_OK) {
		msd_buf_printf(out, "%s without its library:\n", row->title);
		msd_model_text(&m, 0, out);
	}
	msd_model_finish(&m);
	msd_buf_finish(&with_length);
	return err;
}

const struct msd_file_format msd_format_program = {
	.name = "a virtual machine's program",
	.traits = MSD_FORMAT_VM,
	.is = is_program,
	.prepare = msd_format_refuse,
	.inspect = inspect,
};
