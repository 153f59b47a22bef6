/*
 * MLC-LLM gives each library a function _metadata() that returns a JSON text. Its list
 * "params" has the parameters in the order of packed_params: {"name", "shape", "dtype",
 * ...}. Normal path: the text is parsed, and each entry finds its record, whose type
 * and shape must be those of the entry. The author of a dumped folder may have added
 * large tensors before small ones, so without _metadata only a single shard tells an
 * order.
 */
#include "runtime/executor/relax/param_order.h"

#include <jansson.h>
#include <stdlib.h>

#include "proto/base/json.h"
#include "runtime/executor/relax/params.h"
#include "runtime/value/error.h"

#define TEXT_MAX (16u << 20)
#define VALUES_MAX (1u << 20)
#define DEPTH_MAX 64u

static msd_err parse(struct msd_span text, json_t **ret, struct msd_diag *d)
{
	struct msd_json_parts parts;
	json_error_t e;

	if (text.n > TEXT_MAX)
		return msd_diag_set(d, MSD_TOO_LARGE, "more than %u bytes", TEXT_MAX);
	msd_json_count(text, &parts);
	if (parts.depth > DEPTH_MAX ||
	    parts.n_commas + parts.n_objects + parts.n_arrays > VALUES_MAX)
		return msd_diag_set(d, MSD_TOO_LARGE, "too many or too deep values");
	*ret = json_loadb((const char *)text.p, text.n, 0, &e);
	if (*ret != NULL)
		return MSD_OK;
	if (json_error_code(&e) == json_error_out_of_memory)
		return msd_diag_no_memory(d);
	return msd_diag_set(d, MSD_BAD_ARTIFACT, "line %d: %s", e.line, e.text);
}

/* True if the entry's shape and dtype, as far as it has numbers, are the record's. */
static bool fits(const json_t *entry, const struct msd_tensor_blob *t)
{
	const json_t *shape = json_object_get(entry, "shape");
	const json_t *dtype = json_object_get(entry, "dtype");
	struct msd_dtype want;

	if (json_is_string(dtype) &&
	    msd_dtype_parse(json_string_value(dtype), json_string_length(dtype),
			    &want) &&
	    !msd_dtype_eq(want, t->dtype))
		return false;
	if (!json_is_array(shape))
		return true;
	if (json_array_size(shape) != t->ndim)
		return false;
	for (uint32_t i = 0; i < t->ndim; i++) {
		const json_t *v = json_array_get(shape, i);

		if (json_is_integer(v) && json_integer_value(v) >= 0 &&
		    json_integer_value(v) != t->shape[i])
			return false;
	}
	return true;
}

static msd_err find(const struct msd_shards *s, const json_t *entry,
		    const struct msd_shard_record **ret, struct msd_diag *d)
{
	const json_t *v = json_object_get(entry, "name");

	if (!json_is_string(v)) {
		return msd_diag_set(d, MSD_BAD_ARTIFACT,
				    "an entry of \"params\" has no name");
	}
	const struct msd_span name = {(const uint8_t *)json_string_value(v),
				      json_string_length(v)};
	*ret = msd_shards_find(s, name);
	if (*ret == NULL) {
		return msd_diag_set(d, MSD_NOT_FOUND,
				    "the library wants the parameter %.*s, which the "
				    "folder lacks",
				    (int)name.n, (const char *)name.p);
	}
	if (fits(entry, &(*ret)->tensor))
		return MSD_OK;
	return msd_diag_set(d, MSD_BAD_ARTIFACT,
			    "the library wants the parameter %.*s with another shape "
			    "or dtype than the folder has",
			    (int)name.n, (const char *)name.p);
}

static msd_err make_room(struct msd_param_order *o, size_t n, struct msd_diag *d)
{
	o->records = calloc(n + 1, sizeof(const struct msd_shard_record *));
	return o->records != NULL ? MSD_OK : msd_diag_no_memory(d);
}

static msd_err read_text(struct msd_span text, const struct msd_shards *s,
			 struct msd_param_order *o, struct msd_diag *d)
{
	json_t *root = NULL;
	msd_err err = parse(text, &root, d);
	const json_t *list = json_object_get(root, "params");

	if (err == MSD_OK && !json_is_array(list))
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "it has no list \"params\"");
	if (err == MSD_OK)
		err = make_room(o, json_array_size(list), d);
	for (size_t i = 0; err == MSD_OK && i < json_array_size(list); i++)
		err = find(s, json_array_get(list, i), &o->records[o->n++], d);
	json_decref(root);
	return err;
}

static msd_err call(struct msd_vm_func *f, const struct msd_shards *s,
		    struct msd_param_order *o, struct msd_diag *d)
{
	struct msd_any text = msd_none();
	struct msd_span span;
	msd_err err;

	msd_abi_clear();
	if (f->fn.call(&f->fn, NULL, 0, &text) != 0) {
		err = msd_abi_fetch_error(d);
	} else if (!msd_any_str(&text, &span)) {
		err = msd_diag_set(d, MSD_BAD_ARTIFACT, "it returned %s, not a text",
				   msd_type_name(text.type));
	} else {
		err = read_text(span, s, o, d);
	}
	msd_any_drop(&text);
	return err == MSD_OK ? err : msd_diag_wrap(d, err, "_metadata");
}

static msd_err take_shard(const struct msd_shards *s, struct msd_param_order *o,
			  struct msd_diag *d)
{
	if (s->n_shards > 1) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"packed_params: the order of the parameters is not known: the "
			"library has no function _metadata, and the folder more than "
			"one shard");
	}
	const msd_err err = make_room(o, s->n, d);
	for (size_t i = 0; err == MSD_OK && i < s->n; i++)
		o->records[o->n++] = &s->records[i];
	return err;
}

msd_err msd_param_order_read(struct msd_relax_vm *vm, struct msd_param_order *ret,
			     struct msd_diag *d)
{
	struct msd_vm_func *f = msd_relax_vm_find(vm, "_metadata");
	const struct msd_shards *s = &vm->params->shards;
	struct msd_param_order o = {0};
	const msd_err err = f != NULL ? call(f, s, &o, d) : take_shard(s, &o, d);

	if (err != MSD_OK) {
		msd_param_order_finish(&o);
		return err;
	}
	*ret = o;
	return MSD_OK;
}

void msd_param_order_finish(struct msd_param_order *o)
{
	free((void *)o->records);
	*o = (struct msd_param_order){0};
}
