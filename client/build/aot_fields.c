/*
 * Three sources, the most reliable first: the header has names and order,
 * metadata.json has sizes by name (0.11 on), the program in src/ has sizes by name
 * and order. The model's own code checks everything else.
 */
#include "client/build/aot_fields.h"

#include <ctype.h>
#include <stdio.h>
#include <string.h>

#include "artifact/mlf/relay_main.h"

#define UNKNOWN MSD_AOT_UNKNOWN
/* The last version whose io_size_bytes covers inputs and outputs; later versions
 * count every variable. */
#define LAST_VERSION_WITH_TOTAL 5u

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

/* Parse "void* NAME;" at *@at and advance behind it. */
static bool read_field(const char **at, const char *end,
		       char name[static MSD_AOT_MAX_NAME])
{
	const char *p = skip_space(*at, end);
	size_t n = 0;

	if (end - p < 4 || strncmp(p, "void", 4) != 0)
		return false;
	p = skip_space(p + 4, end);
	if (p == end || *p != '*')
		return false;
	p = skip_space(p + 1, end);
	while (p < end && is_name((unsigned char)*p) && n < MSD_AOT_MAX_NAME - 1)
		name[n++] = *p++;
	name[n] = '\0';
	p = skip_space(p, end);
	if (n == 0 || p == end || *p != ';')
		return false;
	*at = p + 1;
	return true;
}

/* Position behind "struct tvmgen_MODEL_@what {"; NULL if absent. */
static const char *find_struct(struct msd_span header, const char *model,
			       const char *what)
{
	char start[512];

	(void)snprintf(start, sizeof(start), "struct tvmgen_%.256s_%s {", model, what);
	const char *p = memmem(header.p, header.n, start, strlen(start));
	return p != NULL ? p + strlen(start) : NULL;
}

/* Parse the structure's members: { void* NAME; ... } and nothing else. */
static bool read_struct(struct msd_span header, const char *model, const char *what,
			struct msd_aot_fields *ret)
{
	const char *end = (const char *)header.p + header.n;
	const char *p = find_struct(header, model, what);

	if (p == NULL)
		return false;
	for (p = skip_space(p, end); p < end && *p != '}'; p = skip_space(p, end)) {
		ret->bytes[ret->n] = UNKNOWN;
		if (ret->n + 1 >= MSD_AOT_MAX_FIELDS ||
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

/* Parse the digits at @p, at least one; UNKNOWN: none, or an overflow. */
static uint64_t read_bytes(const char *p, const char *end)
{
	uint64_t bytes = 0;

	if (p == end || isdigit((unsigned char)*p) == 0)
		return UNKNOWN;
	for (; p < end && isdigit((unsigned char)*p) != 0; p++) {
		bytes = bytes * 10 + (uint64_t)(*p - '0');
		if (bytes > INT32_MAX)
			return UNKNOWN;
	}
	return bytes;
}

/* The number behind "#define TVMGEN_MODEL_POOL_WORKSPACE_POOL_SIZE ". */
static uint64_t pool_bytes(struct msd_span header, const char *model, const char *pool)
{
	const char *end = (const char *)header.p + header.n;
	char text[640];

	const int n =
		snprintf(text, sizeof(text),
			 "TVMGEN_%.256s_%.128s_WORKSPACE_POOL_SIZE ", model, pool);
	for (int i = 0; i < n; i++)
		text[i] = (char)toupper((unsigned char)text[i]);
	const char *p = memmem(header.p, header.n, text, (size_t)n);
	return p != NULL ? read_bytes(p + n, end) : UNKNOWN;
}

/* Read the memory that the caller provides; empty if the model has its own. */
static msd_err read_pools(const struct msd_mlf_model *model, struct msd_span header,
			  struct msd_aot_fields *ret, struct msd_diag *d)
{
	if (find_struct(header, model->name, "devices") != NULL)
		return unsupported(model, "it needs devices", d);
	if (find_struct(header, model->name, "workspace_pools") == NULL)
		return MSD_OK;
	if (!read_struct(header, model->name, "workspace_pools", ret))
		return unsupported(model, "its header has another form", d);
	for (size_t i = 0; i < ret->n; i++) {
		ret->bytes[i] = pool_bytes(header, model->name, ret->names[i]);
		if (ret->bytes[i] == UNKNOWN) {
			return unsupported(
				model,
				"it needs memory whose size is not in its header", d);
		}
	}
	return MSD_OK;
}

/* Find the sizes in the description, else in the program. */
static bool find_sizes(const struct msd_mlf *m, const struct msd_mlf_model *model,
		       struct msd_aot_io *io)
{
	const struct msd_span text = msd_mlf_relay_text(m, model);
	bool is_known = true;

	for (size_t i = 0; i < io->in.n; i++) {
		uint64_t *bytes = &io->in.bytes[i];
		*bytes = msd_mlf_io_bytes(model, "inputs", io->in.names[i]);
		if (*bytes == UNKNOWN)
			*bytes = msd_mlf_relay_input(text, io->in.names[i]);
		is_known = is_known && *bytes != UNKNOWN;
	}
	for (size_t i = 0; i < io->outs.n; i++) {
		uint64_t *bytes = &io->outs.bytes[i];
		*bytes = msd_mlf_io_bytes(model, "outputs", io->outs.names[i]);
		if (*bytes == UNKNOWN)
			*bytes = msd_mlf_relay_output(text, i, io->outs.n);
		is_known = is_known && *bytes != UNKNOWN;
	}
	return is_known;
}

msd_err msd_aot_fields_by_header(const struct msd_mlf *m,
				 const struct msd_mlf_model *model,
				 struct msd_aot_io *ret, struct msd_diag *d)
{
	const struct msd_span header = find_header(m, model);

	ret->total = UNKNOWN;
	if (header.n == 0)
		return unsupported(model, "no header with its arguments", d);
	if (!read_struct(header, model->name, "inputs", &ret->in) ||
	    !read_struct(header, model->name, "outputs", &ret->outs))
		return unsupported(model, "its header has another form", d);
	msd_err err = read_pools(model, header, &ret->pools, d);
	if (err != MSD_OK || find_sizes(m, model, ret))
		return err;
	if (m->version <= LAST_VERSION_WITH_TOTAL)
		ret->total = msd_mlf_io_bytes(model, NULL, NULL);
	return ret->total != UNKNOWN
		       ? MSD_OK
		       : unsupported(model,
				     "neither metadata.json nor the program in src/ "
				     "contains their sizes",
				     d);
}

static uint64_t sum(uint64_t a, uint64_t b)
{
	return a < UNKNOWN / 2 && b < UNKNOWN / 2 ? a + b : UNKNOWN;
}

static bool add_described(const struct msd_mlf_model *model, const char *kind,
			  struct msd_aot_fields *ret, uint64_t *total)
{
	const char *name;

	while ((name = msd_mlf_io_name(model, kind, ret->n)) != NULL) {
		char *to = ret->names[ret->n];

		if (ret->n + 1 >= MSD_AOT_MAX_FIELDS)
			return false;
		for (size_t i = 0; name[i] != '\0' && i < MSD_AOT_MAX_NAME - 1; i++) {
			to[i] = name[i];
			if (!is_name((unsigned char)name[i]))
				to[i] = '_';
		}
		ret->bytes[ret->n] = msd_mlf_io_bytes(model, kind, to);
		*total = sum(*total, ret->bytes[ret->n++]);
	}
	return true;
}

/* The description does not give the function's order of several fields. */
static void forget_each(struct msd_aot_fields *f, const char *what)
{
	for (size_t i = 0; f->n > 1 && i < f->n; i++) {
		f->bytes[i] = UNKNOWN;
		(void)snprintf(f->names[i], MSD_AOT_MAX_NAME, "%s %zu", what, i);
	}
}

bool msd_aot_fields_by_description(const struct msd_mlf_model *model,
				   struct msd_aot_io *ret)
{
	ret->total = 0;
	if (!add_described(model, "inputs", &ret->in, &ret->total) ||
	    !add_described(model, "outputs", &ret->outs, &ret->total) ||
	    ret->outs.n == 0) /* without an output the lists are not valid */
		return false;
	if (ret->in.n <= 1 && ret->outs.n <= 1)
		ret->total = UNKNOWN;
	forget_each(&ret->in, "input");
	forget_each(&ret->outs, "output");
	return true;
}
