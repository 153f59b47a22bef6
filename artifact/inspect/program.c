#include "artifact/inspect/program.h"

#include "artifact/inspect/companion.h"
#include "artifact/kind/look.h"

/* Possible types of a file: the same bytes as in a library, where some have a length
 * in front. */
static const struct row {
	const char *kind, *title;
	enum msd_era era;
	bool has_length;
} rows[] = {
	{"relax.VMExecutable", "Relax VM program", MSD_ERA_FFI, false},
	{"relax.VMExecutable", "Relax VM program", MSD_ERA_FFI_021, true},
	{"relax.Executable", "Relax VM program", MSD_ERA_CLASSIC, true},
	{"VMExecutable", "Relay VM program", MSD_ERA_CLASSIC, true},
};
#define N_ROWS (sizeof(rows) / sizeof(rows[0]))

/* The program with its length in front: the file itself if it has it, else a copy. */
static msd_err with_length(struct msd_span file, struct msd_program *p,
			   struct msd_diag *d)
{
	const struct msd_span code = msd_companion_program(file);
	uint8_t n[sizeof(uint64_t)];

	p->payload = file;
	if (code.n < file.n)
		return MSD_OK;
	if (p->bytes.n == 0) {
		msd_put_le64(n, code.n);
		msd_buf_put(&p->bytes, n, sizeof(n));
		msd_buf_put(&p->bytes, code.p, code.n);
	}
	p->payload = (struct msd_span){p->bytes.p, p->bytes.n};
	return p->bytes.bad ? msd_diag_no_memory(d) : MSD_OK;
}

/* Try one row; ret->model is empty again on failure. */
static msd_err read_as(const struct row *row, struct msd_span file,
		       struct msd_program *ret, struct msd_diag *d)
{
	struct msd_gpu_code none = {0};
	msd_err err = MSD_OK;

	ret->kind = msd_span_of(row->kind);
	ret->title = row->title;
	ret->era = row->era;
	if (row->has_length) {
		err = with_length(file, ret, d);
	} else {
		ret->payload = msd_companion_program(file);
	}
	if (err != MSD_OK)
		return err;
	err = msd_look_find(ret->kind)->read(ret->payload, row->era, &none, &ret->model,
					     d);
	msd_gpu_code_finish(&none);
	if (err != MSD_OK) {
		msd_model_finish(&ret->model);
		ret->model = (struct msd_model){0};
	}
	return err;
}

/* The first row of @era that can read the file. If none can, the error is that of the
 * first row that knows the file's version. */
static msd_err find_row(struct msd_span file, enum msd_era era, struct msd_program *ret,
			struct msd_diag *d)
{
	msd_err err = MSD_UNSUPPORTED;

	for (size_t i = 0; i < N_ROWS; i++) {
		struct msd_diag why = {0};

		if (era != MSD_ERA_NONE && rows[i].era != era)
			continue;
		const msd_err now = read_as(&rows[i], file, ret, &why);
		if (now == MSD_OK || err == MSD_UNSUPPORTED) {
			msd_diag_finish(d);
			*d = why;
			err = now;
		} else {
			msd_diag_finish(&why);
		}
		if (now == MSD_OK)
			return MSD_OK;
	}
	return err;
}

msd_err msd_program_read(struct msd_span file, enum msd_era era,
			 struct msd_program *ret, struct msd_diag *d)
{
	struct msd_program p = {0};
	struct msd_diag unread = {0};
	msd_err err = find_row(file, era, &p, d);

	/* A program of another era is not damaged. */
	if (err != MSD_OK && era != MSD_ERA_NONE &&
	    find_row(file, MSD_ERA_NONE, &p, &unread) == MSD_OK) {
		msd_diag_finish(d);
		err = msd_diag_set(d, MSD_UNSUPPORTED,
				   "a %s of %s, but the library is of %s: both must "
				   "come from one compilation",
				   p.title, msd_era_title(p.era), msd_era_title(era));
	}
	msd_diag_finish(&unread);
	if (err != MSD_OK) {
		msd_program_finish(&p);
		return err;
	}
	*ret = p;
	return MSD_OK;
}

void msd_program_finish(struct msd_program *p)
{
	msd_model_finish(&p->model);
	msd_buf_finish(&p->bytes);
	*p = (struct msd_program){0};
}
