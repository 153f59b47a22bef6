/*
 * Happy path: the daemon's lists are read from its answer. Then the file, its symbols
 * and each module are compared with them, and each missing item is one line of the
 * reasons. Facts that cannot be checked here, such as the libraries of another
 * machine, are listed separately and do not cause a rejection.
 */
#include "client/cli/doctor/verdict.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "artifact/json.h"
#include "artifact/provides/provides.h"
#include "client/cli/doctor/sandbox_path_check.h"

/* The daemon's answer; lists are arrays of texts. */
struct host {
	const modser_value *info;
	const char *machine;
	const modser_value *kinds, *symbols, *slots, *packed, *devices;
};

struct judge {
	const struct msd_inspect *in;
	struct host host;
	struct msd_verdict *verdict;
	const struct msd_params
		*params; /* params loaded with the library; NULL: none */
	bool is_local;
};

static const modser_value *list_of(const modser_value *info, const char *key)
{
	const modser_value *v = modser_find(info, key);

	return v != NULL && v->kind == MODSER_TUPLE ? v : NULL;
}

static const char *text_of(const modser_value *map, const char *key)
{
	const modser_value *v = modser_find(map, key);

	return v != NULL && v->kind == MODSER_STR ? v->as.str.p : NULL;
}

static bool has_name(const modser_value *list, const char *name)
{
	for (size_t i = 0; i < list->as.tuple.n; i++) {
		const modser_value *v = &list->as.tuple.item[i];
		if (v->kind == MODSER_STR && strcmp(v->as.str.p, name) == 0)
			return true;
	}
	return false;
}

static bool read_host(const modser_value *info, struct host *ret)
{
	*ret = (struct host){.info = info,
			     .machine = text_of(info, "machine"),
			     .kinds = list_of(info, "kinds"),
			     .symbols = list_of(info, "symbols"),
			     .slots = list_of(info, "slots"),
			     .packed = list_of(info, "packed_functions"),
			     .devices = list_of(info, "devices")};
	return ret->machine != NULL && ret->kinds != NULL && ret->symbols != NULL &&
	       ret->slots != NULL && ret->packed != NULL && ret->devices != NULL;
}

/* Libraries that every machine with modserd has. */
static bool is_platform(const char *library)
{
	static const char *const names[] = {"libc.so.",  "libm.so.",       "libdl.so.",
					    "librt.so.", "libpthread.so.", "ld-linux"};

	for (size_t i = 0; i < sizeof(names) / sizeof(*names); i++) {
		if (strncmp(library, names[i], strlen(names[i])) == 0)
			return true;
	}
	return false;
}

static void judge_file(struct judge *j)
{
	struct msd_buf *why = &j->verdict->reasons;

	if (j->in->era == MSD_ERA_NONE) {
		msd_buf_printf(why, "it has no symbol of TVM; load a library of TVM's "
				    "C target with --abi\n");
	}
	if (strcmp(j->in->machine, j->host.machine) != 0) {
		msd_buf_printf(why, "it is for %s, the daemon's machine is %s\n",
			       j->in->machine, j->host.machine);
	}
	/* On this machine, the check can tell whether they are also in another
	 * folder. */
	if (j->in->needs_neighbours && (!j->is_local || j->in->missing != NULL)) {
		msd_buf_printf(why, "it searches libraries in its own folder "
				    "($ORIGIN), which is empty at a daemon; set "
				    "another with `patchelf --set-rpath /FOLDER`\n");
	}
}

static void judge_symbols(struct judge *j)
{
	const struct msd_inspect *in = j->in;
	struct msd_buf *why = &j->verdict->reasons;

	for (size_t i = 0; i < in->n_undefined; i++) {
		const char *who = in->providers[i];
		const bool is_ours = who == NULL || strcmp(who, "modserd") == 0;
		if (!is_ours || has_name(j->host.symbols, in->undefined[i]))
			continue;
		if (who == NULL && !in->is_resolved) {
			msd_buf_printf(&j->verdict->unknown,
				       "which library provides the symbol %s\n",
				       in->undefined[i]);
		} else {
			msd_buf_printf(why, "no library provides the symbol %s\n",
				       in->undefined[i]);
		}
	}
	for (size_t i = 0; i < in->n_unknown_slots; i++) {
		if (!has_name(j->host.slots, in->unknown_slots[i])) {
			msd_buf_printf(why, "no module sets the global pointer %s\n",
				       in->unknown_slots[i]);
		}
	}
}

/* Judge a library that this machine has but a module may not be able to read. */
static void judge_place(struct judge *j, const char *needed, const char *path)
{
	const char *end = strrchr(path, '/');

	if (msd_sandbox_path_check_has(j->host.info, path))
		return;
	msd_buf_printf(&j->verdict->reasons,
		       "it needs %s: modules in the daemon's sandbox may not read that "
		       "without modserd --may-read %.*s\n",
		       needed, (int)(end > path ? end - path : 1), path);
}

/*
 * A library that was not found here may be in a folder of the loader's configuration.
 */
static void judge_needed(struct judge *j)
{
	const struct msd_inspect *in = j->in;

	if (j->is_local && in->missing != NULL && in->missing[0] == '/') {
		msd_buf_printf(&j->verdict->reasons, "there is no file %s\n",
			       in->missing);
	}
	for (size_t i = 0; j->is_local && in->places != NULL && i < in->n_needed; i++) {
		if (in->places[i] != NULL)
			judge_place(j, in->needed[i], in->places[i]);
	}
	for (size_t i = 0; i < in->n_needed; i++) {
		if (is_platform(in->needed[i]) || msd_provides_library(in->needed[i]) ||
		    (j->is_local && in->needed[i] != in->missing))
			continue;
		msd_buf_printf(&j->verdict->unknown,
			       "whether its machine has the library %s\n",
			       in->needed[i]);
	}
}

/* "9.0" is 90; 0: another form. */
static uint32_t capability_of(const modser_value *device)
{
	const char *text = text_of(device, "capability");
	char *end;

	if (text == NULL)
		return 0;
	const unsigned long major = strtoul(text, &end, 10);
	if (*end != '.' || major > 999)
		return 0;
	const unsigned long minor = strtoul(end + 1, &end, 10);
	return *end == '\0' && minor <= 9 ? (uint32_t)(major * 10 + minor) : 0;
}

static bool any_image_runs(const struct msd_gpu_code *code, uint32_t capability)
{
	for (size_t i = 0; i < code->n_images; i++) {
		if (msd_gpu_image_runs_on(&code->images[i], capability))
			return true;
	}
	return code->n_images == 0; /* source code, which is compiled there */
}

/* "sm_90, compute_80" */
static void put_archs(struct msd_buf *out, const struct msd_gpu_code *code)
{
	char arch[MSD_GPU_ARCH_MAX];

	for (size_t i = 0; i < code->n_images; i++) {
		msd_buf_printf(out, "%s%s", i > 0 ? ", " : "",
			       msd_gpu_arch_format(&code->images[i], arch));
	}
}

/* A module of kernels needs a device of its kind that supports its code. */
static void judge_device(struct judge *j, uint32_t index)
{
	const struct msd_inspect_module *m = &j->in->modules[index];
	const size_t n = strlen(m->kind);
	struct msd_buf others = {0};
	bool runs = false;

	for (size_t i = 0; i < j->host.devices->as.tuple.n; i++) {
		const modser_value *device = &j->host.devices->as.tuple.item[i];
		const char *name = text_of(device, "device");
		const char *what = text_of(device, "capability");
		if (name == NULL || strncmp(name, m->kind, n) != 0 || name[n] != ':')
			continue;
		runs |= any_image_runs(&m->gpu, capability_of(device));
		msd_buf_printf(&others, "%s%s is %s", others.n > 0 ? ", " : "", name,
			       what != NULL ? what : "unknown");
	}
	if (!runs && others.n == 0) {
		msd_buf_printf(&j->verdict->reasons,
			       "module %" PRIu32 " (%s): the daemon has no device of "
			       "this kind\n",
			       index, m->kind);
	} else if (!runs) {
		msd_buf_printf(&j->verdict->reasons,
			       "module %" PRIu32 " (%s): its code is for ", index,
			       m->kind);
		put_archs(&j->verdict->reasons, &m->gpu);
		msd_buf_printf(&j->verdict->reasons, "; %.*s\n", (int)others.n,
			       (const char *)others.p);
	}
	j->verdict->reasons.bad |= others.bad;
	msd_buf_finish(&others);
}

/* Judge constants that are in a file outside the library. */
static void judge_late(struct judge *j, uint32_t index)
{
	const struct msd_inspect_module *m = &j->in->modules[index];
	struct msd_buf *why = &j->verdict->reasons;
	size_t n = 0;

	for (size_t i = 0; i < m->model.n_late; i++) {
		const char *name = m->model.late[i];
		if (j->params != NULL && msd_params_find(j->params, name) != NULL)
			continue;
		if (n++ == 0) {
			msd_buf_printf(why,
				       "module %" PRIu32 " (%s): its constants are "
				       "bound later: load it with --params FILE, "
				       "which has",
				       index, m->kind);
		}
		msd_buf_printf(why, "%s %s", n > 1 ? "," : "", name);
	}
	if (n > 0)
		msd_buf_printf(why, "\n");
}

/* Judge the functions that the module needs, and its unreadable parts. */
static void judge_content(struct judge *j, uint32_t index)
{
	const struct msd_inspect_module *m = &j->in->modules[index];
	struct msd_buf *why = &j->verdict->reasons;
	char buf[MSD_PROVIDER_MAX];

	for (size_t i = 0; i < m->info.n_facts; i++) {
		const struct msd_payload_fact *f = &m->info.facts[i];
		if (strcmp(f->key, "damaged") == 0 ||
		    strcmp(f->key, "unsupported") == 0) {
			msd_buf_printf(why, "module %" PRIu32 " (%s) is %s: %s\n",
				       index, m->kind, f->key, f->value);
		}
	}
	for (size_t i = 0; i < m->model.n_needs; i++) {
		const char *who = msd_inspect_provider(j->in, m->model.needs[i], buf);
		const bool is_inside = who != NULL && strcmp(who, "modserd") != 0;
		if (!is_inside && !has_name(j->host.packed, m->model.needs[i])) {
			msd_buf_printf(why,
				       "module %" PRIu32 " (%s): no module has the "
				       "function %s\n",
				       index, m->kind, m->model.needs[i]);
		}
	}
	judge_late(j, index);
}

static void judge_module(struct judge *j, uint32_t index)
{
	const char *kind = j->in->modules[index].kind;

	if (strcmp(kind, MSD_TREE_UNREAD) == 0)
		return; /* its parent module is already a reason */
	if (!has_name(j->host.kinds, kind)) {
		msd_buf_printf(&j->verdict->reasons,
			       "module %" PRIu32 " (%s): the daemon does not run this "
			       "kind\n",
			       index, kind);
		return;
	}
	judge_content(j, index);
	if (strcmp(kind, "cuda") == 0 || strcmp(kind, "opencl") == 0)
		judge_device(j, index);
}

msd_err msd_verdict_find(const struct msd_inspect *i, const modser_value *info,
			 const struct msd_params *params, bool is_local,
			 struct msd_verdict *ret, struct msd_diag *d)
{
	struct judge j = {
		.in = i, .verdict = ret, .params = params, .is_local = is_local};

	*ret = (struct msd_verdict){0};
	if (!read_host(info, &j.host)) {
		return msd_diag_set(d, MSD_UNSUPPORTED,
				    "the daemon does not report what it can run: it is "
				    "older than this program, or its worker failed");
	}
	judge_file(&j);
	judge_symbols(&j);
	judge_needed(&j);
	for (uint32_t k = 0; k < i->n_modules; k++)
		judge_module(&j, k);
	return ret->reasons.bad || ret->unknown.bad ? msd_diag_no_memory(d) : MSD_OK;
}

void msd_verdict_finish(struct msd_verdict *v)
{
	msd_buf_finish(&v->reasons);
	msd_buf_finish(&v->unknown);
}

/* Get the next line of *@p up to @end, without its newline; false: none. */
static bool next_line(const uint8_t **p, const uint8_t *end, struct msd_span *ret)
{
	if (*p == end)
		return false;
	const uint8_t *stop = memchr(*p, '\n', (size_t)(end - *p));
	*ret = (struct msd_span){*p, (size_t)((stop != NULL ? stop : end) - *p)};
	*p = stop != NULL ? stop + 1 : end;
	return true;
}

static void put_lines(struct msd_buf *out, const struct msd_buf *lines,
		      const char *before)
{
	const uint8_t *p = lines->p;
	struct msd_span line;

	while (lines->n > 0 && next_line(&p, lines->p + lines->n, &line)) {
		msd_buf_printf(out, "%s%.*s\n", before, (int)line.n,
			       (const char *)line.p);
	}
}

void msd_verdict_text(const struct msd_verdict *v, const char *host,
		      struct msd_buf *out)
{
	msd_buf_printf(out, "%s will %srun it\n", host != NULL ? host : "the daemon",
		       v->reasons.n > 0 ? "not " : "");
	put_lines(out, &v->reasons, "  ");
	put_lines(out, &v->unknown, "  not known: ");
}

static json_t *lines_json(const struct msd_buf *lines)
{
	const uint8_t *p = lines->p;
	struct msd_span line;
	json_t *list = json_array();

	while (lines->n > 0 && next_line(&p, lines->p + lines->n, &line))
		msd_json_add(&list, msd_json_text(line));
	return list;
}

void msd_verdict_json(const struct msd_verdict *v, struct msd_buf *out)
{
	msd_json_put(out,
		     json_pack("{s:b,s:o,s:o}", "will_run", v->reasons.n == 0,
			       "reasons", lines_json(&v->reasons), "unknown",
			       lines_json(&v->unknown)),
		     JSON_COMPACT);
	msd_buf_put_u8(out, '\n');
}
