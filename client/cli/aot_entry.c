#include "client/cli/aot_entry.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#define MAX_FIELDS 256u
#define MAX_NAME 128u
#define UNKNOWN UINT64_MAX

/* The members of one of the header's structures, in their order. */
struct fields {
	char names[MAX_FIELDS][MAX_NAME];
	uint64_t bytes[MAX_FIELDS]; /* UNKNOWN: not described */
	size_t n;
};

struct entry {
	enum msd_aot_form form;
	const char *function;
	bool is_described; /* in, outs and total say what is to be checked */
	struct fields in;
	struct fields outs;
	uint64_t total; /* UNKNOWN: each has its own size */
};

static msd_err unsupported(const struct msd_mlf_model *model, const char *why,
			   struct msd_diag *d)
{
	return msd_diag_set(d, MSD_UNSUPPORTED,
			    "model %.64s has the C interface, and %s; export it with "
			    "the packed one (interface-api=packed) or the graph "
			    "executor",
			    model->name, why);
}

static bool is_name(int c)
{
	return isalnum(c) != 0 || c == '_';
}

static const char *skip_space(const char *p, const char *end)
{
	while (p < end && isspace((unsigned char)*p) != 0)
		p++;
	return p;
}

/* "void* NAME;" at *@at, which moves behind it. */
static bool read_field(const char **at, const char *end, char name[static MAX_NAME])
{
	const char *p = skip_space(*at, end);
	size_t n = 0;

	if (end - p < 4 || strncmp(p, "void", 4) != 0)
		return false;
	p = skip_space(p + 4, end);
	if (p == end || *p != '*')
		return false;
	p = skip_space(p + 1, end);
	while (p < end && is_name((unsigned char)*p) && n < MAX_NAME - 1)
		name[n++] = *p++;
	name[n] = '\0';
	p = skip_space(p, end);
	if (n == 0 || p == end || *p != ';')
		return false;
	*at = p + 1;
	return true;
}

/* The structure tvmgen_MODEL_@what: { void* NAME; ... } and nothing else. */
static bool read_struct(struct msd_span header, const char *model, const char *what,
			struct fields *ret)
{
	const char *end = (const char *)header.p + header.n;
	char start[512];

	(void)snprintf(start, sizeof(start), "struct tvmgen_%.256s_%s {", model, what);
	const char *p = memmem(header.p, header.n, start, strlen(start));
	if (p == NULL)
		return false;
	for (p = skip_space(p + strlen(start), end); p < end && *p != '}';
	     p = skip_space(p, end)) {
		ret->bytes[ret->n] = UNKNOWN;
		if (ret->n + 1 >= MAX_FIELDS ||
		    !read_field(&p, end, ret->names[ret->n++]))
			return false;
	}
	return p < end;
}

static struct msd_span find_header(const struct msd_mlf *m,
				   const struct msd_mlf_model *model)
{
	char path[512];

	(void)snprintf(path, sizeof(path), MSD_MLF_INCLUDE "tvmgen_%.256s.h",
		       model->name);
	const struct msd_archive_file *f = msd_archive_find(&m->archive, path);
	return f != NULL ? (struct msd_span){f->data.p, f->data.n}
			 : (struct msd_span){0};
}

static void put_lines(struct msd_buf *out, const struct fields *f, const char *what,
		      size_t first)
{
	for (size_t i = 0; i < f->n; i++) {
		msd_buf_printf(out, "\tif ((error = take(args, codes, %zu, ",
			       first + i);
		if (f->bytes[i] == UNKNOWN) {
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

/* Numbered, for two names of a model may become one in C. The last one is for a model
 * without inputs: C has no empty structure. */
static void put_struct(struct msd_buf *out, const struct fields *f, const char *what)
{
	msd_buf_printf(out, "struct %s {\n", what);
	for (size_t i = 0; i <= f->n; i++)
		msd_buf_printf(out, "\tvoid *p%zu;\n", i);
	msd_buf_printf(out, "};\n");
}

static void put_pointers(struct msd_buf *out, const struct fields *f, const char *what,
			 bool is_first)
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

/* One tensor: dense, on the host, of the size that is described. */
static const char take_text[] =
	"#include <stdio.h>\n"
	"#include \"tvm/runtime/c_runtime_api.h\"\n"
	"static int fail(const char *name, const char *what, long long n)\n"
	"{\n"
	"\tchar text[256];\n"
	"\t(void)snprintf(text, sizeof(text), \"run: %s: %s %lld\", name, what, n);\n"
	"\tTVMAPISetLastError(text);\n"
	"\treturn -1;\n"
	"}\n"
	"static int take(TVMValue *args, int *codes, int i, long long want,\n"
	"\t\tconst char *name, void **ret, long long *total)\n"
	"{\n"
	"\tconst DLTensor *t = args[i].v_handle;\n"
	"\tlong long bytes;\n"
	"\tif (codes[i] != kTVMDLTensorHandle && codes[i] != kTVMNDArrayHandle)\n"
	"\t\treturn fail(name, \"expected a tensor, got type code\", codes[i]);\n"
	"\tif (t->device.device_type != kDLCPU)\n"
	"\t\treturn fail(name, \"expected a tensor of the host, got device\",\n"
	"\t\t\t    t->device.device_type);\n"
	"\tbytes = (t->dtype.bits + 7) / 8 * t->dtype.lanes;\n"
	"\tfor (int k = t->ndim - 1; k >= 0; k--) {\n"
	"\t\tbytes *= t->shape[k];\n"
	"\t}\n"
	"\tif (want >= 0 && bytes != want)\n"
	"\t\treturn fail(name, \"another size in bytes, expected\", want);\n"
	"\t*total += bytes;\n"
	"\t*ret = (char *)t->data + t->byte_offset;\n"
	"\treturn 0;\n"
	"}\n";

/* What the model's function takes, and the call with what was gathered. */
static void put_declaration(struct msd_buf *out, const struct entry *e)
{
	msd_buf_printf(out, "int32_t %s(", e->function);
	if (e->form == MSD_AOT_PACKED) {
		msd_buf_printf(out, "TVMValue *, int *, int, TVMValue *, int *, "
				    "void *");
	} else if (e->form == MSD_AOT_STRUCTS) {
		msd_buf_printf(out, "struct in *, struct out *");
	} else {
		put_pointers(out, &e->in, NULL, true);
		put_pointers(out, &e->outs, NULL, e->in.n == 0);
	}
	msd_buf_printf(out, ");\n");
}

static void put_call(struct msd_buf *out, const struct entry *e)
{
	if (e->form == MSD_AOT_PACKED) {
		msd_buf_printf(out,
			       "\treturn %s(args, codes, n, ret, ret_code, "
			       "self);\n}\n",
			       e->function);
		return;
	}
	msd_buf_printf(out, "\terror = %s(", e->function);
	if (e->form == MSD_AOT_STRUCTS) {
		msd_buf_printf(out, "&in, &out");
	} else {
		put_pointers(out, &e->in, "in", true);
		put_pointers(out, &e->outs, "out", e->in.n == 0);
	}
	msd_buf_printf(out,
		       ");\n\treturn error == 0 ? 0 : fail(\"%s\", \"the model's "
		       "error\", error);\n}\n",
		       e->function);
}

static void put_checks(struct msd_buf *out, const struct entry *e)
{
	const size_t n = e->in.n + e->outs.n;

	msd_buf_printf(out,
		       "\tif (n != %zu)\n\t\treturn fail(\"inputs, then outputs\", "
		       "\"expected as many tensors:\", %zu);\n",
		       n, n);
	put_lines(out, &e->in, "in", 0);
	put_lines(out, &e->outs, "out", e->in.n);
	if (e->total != UNKNOWN) {
		msd_buf_printf(out,
			       "\tif (total != %llu)\n\t\treturn fail(\"inputs and "
			       "outputs\", \"expected bytes in all:\", %llu);\n",
			       (unsigned long long)e->total,
			       (unsigned long long)e->total);
	}
}

static void put_entry(struct msd_buf *out, const struct entry *e)
{
	msd_buf_printf(out, "%s", take_text);
	put_struct(out, &e->in, "in");
	put_struct(out, &e->outs, "out");
	put_declaration(out, e);
	msd_buf_printf(out,
		       "TVM_DLL int run(TVMValue *args, int *codes, int n, TVMValue "
		       "*ret,\n\tint *ret_code, void *self)\n{\n"
		       "\tstruct in in;\n\tstruct out out;\n\tlong long total = 0;\n"
		       "\tint error;\n");
	if (e->is_described)
		put_checks(out, e);
	put_call(out, e);
}

/* A later release's function takes memory pools and devices, too. */
static bool takes_more(struct msd_span header)
{
	return memmem(header.p, header.n, "_workspace_pools", 16) != NULL ||
	       memmem(header.p, header.n, "_devices", 8) != NULL;
}

static bool is_identifier(const char *name)
{
	size_t i = 0;

	while (is_name((unsigned char)name[i]))
		i++;
	return i > 0 && i < MAX_NAME && name[i] == '\0';
}

/* The header's names with the description's sizes. */
static msd_err describe_by_header(const struct msd_mlf *m,
				  const struct msd_mlf_model *model, struct entry *e,
				  struct msd_diag *d)
{
	struct msd_span header = find_header(m, model);
	bool is_known = true;

	if (header.n == 0)
		return unsupported(model, "no header that says its arguments", d);
	if (takes_more(header))
		return unsupported(model, "it takes memory pools or devices", d);
	if (!read_struct(header, model->name, "inputs", &e->in) ||
	    !read_struct(header, model->name, "outputs", &e->outs))
		return unsupported(model, "its header has another form", d);
	for (size_t i = 0; i < e->in.n; i++) {
		e->in.bytes[i] = msd_mlf_io_bytes(model, "inputs", e->in.names[i]);
		is_known = is_known && e->in.bytes[i] != UNKNOWN;
	}
	for (size_t i = 0; i < e->outs.n; i++) {
		e->outs.bytes[i] = msd_mlf_io_bytes(model, "outputs", e->outs.names[i]);
		is_known = is_known && e->outs.bytes[i] != UNKNOWN;
	}
	if (!is_known)
		e->total = msd_mlf_io_bytes(model, NULL, NULL);
	if (!is_known && e->total == UNKNOWN)
		return unsupported(model, "metadata.json does not say their sizes", d);
	e->is_described = true;
	return MSD_OK;
}

/* The description's own order, that of the function's parameters (version 7). */
static bool read_fields(const struct msd_mlf_model *model, const char *kind,
			struct fields *ret)
{
	const char *name;

	while ((name = msd_mlf_io_name(model, kind, ret->n)) != NULL) {
		char *to = ret->names[ret->n];

		if (ret->n + 1 >= MAX_FIELDS)
			return false;
		for (size_t i = 0; name[i] != '\0' && i < MAX_NAME - 1; i++) {
			to[i] = name[i];
			if (!is_name((unsigned char)name[i]))
				to[i] = '_';
		}
		ret->bytes[ret->n++] = msd_mlf_io_bytes(model, kind, to);
	}
	return true;
}

msd_err msd_aot_entry(const struct msd_mlf *m, const struct msd_mlf_model *model,
		      enum msd_aot_form form, const char *function, struct msd_buf *out,
		      struct msd_diag *d)
{
	struct entry e = {.form = form, .total = UNKNOWN, .function = function};
	msd_err err = MSD_OK;

	if (!is_identifier(model->name)) {
		return form == MSD_AOT_PACKED
			       ? MSD_OK
			       : unsupported(model, "its name is none in C", d);
	}
	if (form == MSD_AOT_PACKED) { /* without an output the lists are not those */
		e.is_described = read_fields(model, "inputs", &e.in) &&
				 read_fields(model, "outputs", &e.outs) && e.outs.n > 0;
	} else {
		err = describe_by_header(m, model, &e, d);
	}
	if (err != MSD_OK)
		return err;
	put_entry(out, &e);
	return out->bad ? msd_diag_no_memory(d) : MSD_OK;
}
