/*
 * Happy path: writes the head of the source with its tensor checks, then the model's
 * inputs and outputs as structures of pointers. Next are the declaration of the
 * model's own function in its form, and `run`, which checks each argument and makes
 * the call.
 */
#include "client/build/aot_entry.h"

#include <ctype.h>

#include "client/build/aot_fields.h"

#define PACKED_PARAMS "TVMValue *, int *, int, TVMValue *, int *, void *"

struct entry {
	const struct msd_aot_call *call;
	bool is_described; /* io describes the sizes to check */
	struct msd_aot_io io;
};

static void put_lines(struct msd_buf *out, const struct msd_aot_fields *f,
		      const char *what, size_t first)
{
	for (size_t i = 0; i < f->n; i++) {
		msd_buf_printf(out, "\tif ((error = modser_take(args, codes, %zu, ",
			       first + i);
		if (f->bytes[i] == MSD_AOT_UNKNOWN) {
			msd_buf_printf(out, "-1");
		} else {
			msd_buf_printf(out, "%llu", (unsigned long long)f->bytes[i]);
		}
		msd_buf_printf(out,
			       ", \"%s\", &%s.p%zu, &total)) != 0)\n"
			       "\t\treturn error;\n",
			       f->names[i], what, i);
	}
}

/* Members are numbered, because two names of a model may become the same C name. The
 * extra last member is for a model without inputs: C has no empty structure. */
static void put_struct(struct msd_buf *out, const struct msd_aot_fields *f,
		       const char *what)
{
	msd_buf_printf(out, "struct %s {\n", what);
	for (size_t i = 0; i <= f->n; i++)
		msd_buf_printf(out, "\tvoid *p%zu;\n", i);
	msd_buf_printf(out, "};\n");
}

/* Memory for one call at a time. */
static void put_pools(struct msd_buf *out, const struct msd_aot_fields *f)
{
	for (size_t i = 0; i < f->n; i++) {
		msd_buf_printf(out,
			       "static char pool%zu[%llu + 1] "
			       "__attribute__((aligned(MODSER_ALIGN)));\n",
			       i, (unsigned long long)f->bytes[i]);
	}
	put_struct(out, f, "pools");
	msd_buf_printf(out, "static struct pools pools = {");
	for (size_t i = 0; i < f->n; i++)
		msd_buf_printf(out, "pool%zu, ", i);
	msd_buf_printf(out, "0};\n");
}

static void put_pointers(struct msd_buf *out, const struct msd_aot_fields *f,
			 const char *what, bool is_first)
{
	for (size_t i = 0; i < f->n; i++) {
		msd_buf_printf(out, "%s", is_first && i == 0 ? "" : ", ");
		if (what == NULL) {
			msd_buf_printf(out, "void *");
		} else {
			msd_buf_printf(out, "%s.p%zu", what, i);
		}
	}
}

/* Append the declaration of the model's function, and the call with the collected
 * arguments. */
static void put_declaration(struct msd_buf *out, const struct entry *e)
{
	msd_buf_printf(out, "int32_t %s(", e->call->function);
	if (e->call->form == MSD_AOT_PACKED) {
		msd_buf_printf(out, PACKED_PARAMS);
	} else if (e->call->form == MSD_AOT_STRUCTS) {
		msd_buf_printf(out, "struct in *, struct out *%s",
			       e->io.pools.n > 0 ? ", struct pools *" : "");
	} else {
		put_pointers(out, &e->io.in, NULL, true);
		put_pointers(out, &e->io.outs, NULL, e->io.in.n == 0);
	}
	msd_buf_printf(out, ");\n");
}

static void put_call(struct msd_buf *out, const struct entry *e)
{
	const char *function = e->call->function;

	if (e->call->form == MSD_AOT_PACKED) {
		msd_buf_printf(out,
			       "\treturn modser_call(%s, args, n, ret, ret_code, "
			       "self);\n}\n",
			       function);
		return;
	}
	msd_buf_printf(out, "\terror = %s(", function);
	if (e->call->form == MSD_AOT_STRUCTS) {
		msd_buf_printf(out, "&in, &out%s", e->io.pools.n > 0 ? ", &pools" : "");
	} else {
		put_pointers(out, &e->io.in, "in", true);
		put_pointers(out, &e->io.outs, "out", e->io.in.n == 0);
	}
	msd_buf_printf(out,
		       ");\n\treturn error == 0 ? 0 : modser_fail(\"%s\", \"the "
		       "model's error\", error);\n}\n",
		       function);
}

static void put_checks(struct msd_buf *out, const struct entry *e)
{
	const struct msd_aot_io *io = &e->io;

	msd_buf_printf(out,
		       "\tif ((error = modser_count(n, %zu)) != 0)\n"
		       "\t\treturn error;\n",
		       io->in.n + io->outs.n);
	put_lines(out, &io->in, "in", 0);
	put_lines(out, &io->outs, "out", io->in.n);
	if (io->total != MSD_AOT_UNKNOWN) {
		msd_buf_printf(out,
			       "\tif (total != %llu)\n\t\treturn modser_fail("
			       "\"inputs and outputs\", \"expected bytes in "
			       "all:\", %llu);\n",
			       (unsigned long long)io->total,
			       (unsigned long long)io->total);
	}
}

static void put_head(struct msd_buf *out)
{
	msd_buf_printf(out, "TVM_DLL int run(TVMValue *args, int *codes, int n, "
			    "TVMValue *ret,\n\tint *ret_code, void *self)\n{\n");
}

static void put_entry(struct msd_buf *out, const struct entry *e)
{
	msd_buf_printf(out, "#include \"modser_aot.h\"\n");
	put_struct(out, &e->io.in, "in");
	put_struct(out, &e->io.outs, "out");
	if (e->io.pools.n > 0)
		put_pools(out, &e->io.pools);
	put_declaration(out, e);
	put_head(out);
	msd_buf_printf(out, "\tstruct in in;\n\tstruct out out;\n\tlong long total = "
			    "0;\n\tint error;\n");
	if (e->is_described)
		put_checks(out, e);
	put_call(out, e);
}

/* Append code that asks the model's own code for its parameters. */
static void put_described(struct msd_buf *out, const struct msd_aot_call *call)
{
	msd_buf_printf(out,
		       "#include \"modser_aot.h\"\n"
		       "int32_t %s(" PACKED_PARAMS ");\n"
		       "int32_t %s(" PACKED_PARAMS ");\n",
		       call->function, call->metadata);
	put_head(out);
	msd_buf_printf(out,
		       "\treturn modser_call_described(%s, %s, %d, args, codes, n,\n"
		       "\t\tret, ret_code, self);\n}\n",
		       call->function, call->metadata, call->is_main);
}

static bool is_identifier(const char *name)
{
	size_t i = 0;

	while (isalnum((unsigned char)name[i]) != 0 || name[i] == '_')
		i++;
	return i > 0 && i < MSD_AOT_MAX_NAME && name[i] == '\0';
}

msd_err msd_aot_entry(const struct msd_mlf *m, const struct msd_mlf_model *model,
		      const struct msd_aot_call *call, struct msd_buf *out,
		      struct msd_diag *d)
{
	struct entry e = {.call = call, .io.total = MSD_AOT_UNKNOWN};
	msd_err err = MSD_OK;

	if (!is_identifier(model->name)) {
		return call->form == MSD_AOT_PACKED
			       ? MSD_OK
			       : msd_diag_set(d, MSD_UNSUPPORTED,
					      "model %.64s has the C interface, but "
					      "its name is not a C identifier",
					      model->name);
	}
	if (call->form == MSD_AOT_PACKED && call->metadata != NULL) {
		put_described(out, call);
	} else {
		if (call->form != MSD_AOT_PACKED)
			err = msd_aot_fields_by_header(m, model, &e.io, d);
		e.is_described = call->form != MSD_AOT_PACKED ||
				 msd_aot_fields_by_description(model, &e.io);
		if (err == MSD_OK)
			put_entry(out, &e);
	}
	if (err == MSD_OK && out->bad)
		err = msd_diag_no_memory(d);
	return err;
}
