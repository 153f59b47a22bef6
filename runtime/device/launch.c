/*
 * Launch of a kernel: its tags are parsed once, its arguments are converted at each
 * call.
 *
 * Happy path: make parses the tags (which argument is which extent of grid and block,
 * dynamic shared memory, cooperative groups). run takes the packed function's
 * arguments, checks each against the kernel's parameters, and calls the backend's
 * launch.
 */
#include "runtime/device/launch.h"

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/value/element.h"

/* Extents by axis: the first letters of a tag select three slots, the last letter
 * selects one of them. */
enum slot {
	SLOT_GRID = 0,
	SLOT_BLOCK = 3,
	SLOT_CLUSTER = 6,
	SLOT_PREFERRED_CLUSTER = 9,
	SLOT_SHARED = 12,
	SLOT_UNUSED = 13, /* virtual threads: the compiler has unrolled them */
	N_SLOTS
};

static const struct {
	const char *prefix;
	enum slot first;
} axes[] = {
	{"blockIdx.", SLOT_GRID},
	{"threadIdx.", SLOT_BLOCK},
	{"clusterCtaIdx.", SLOT_CLUSTER},
	{"preferredClusterCtaIdx.", SLOT_PREFERRED_CLUSTER},
};

static bool axis_of(struct msd_span tag, uint8_t *ret)
{
	for (size_t i = 0; i < sizeof(axes) / sizeof(axes[0]); i++) {
		const size_t n = strlen(axes[i].prefix);
		if (tag.n != n + 1 || memcmp(tag.p, axes[i].prefix, n) != 0)
			continue;
		if (tag.p[n] < 'x' || tag.p[n] > 'z')
			return false;
		*ret = (uint8_t)(axes[i].first + (tag.p[n] - 'x'));
		return true;
	}
	return false;
}

/* "tir.NAME" up to 0.23, "tirx.NAME" since. */
static bool is_tir(struct msd_span tag, const char *name)
{
	static const char *const prefixes[] = {"tir.", "tirx."};

	for (size_t i = 0; i < 2; i++) {
		const size_t n = strlen(prefixes[i]);
		if (tag.n > n && memcmp(tag.p, prefixes[i], n) == 0 &&
		    msd_span_is((struct msd_span){tag.p + n, tag.n - n}, name))
			return true;
	}
	return false;
}

static msd_err tag_understand(struct msd_launch_plan *plan, struct msd_span tag,
			      struct msd_diag *d)
{
	uint8_t slot;

	if (is_tir(tag, "use_cooperative_launch")) {
		plan->is_cooperative = true;
		return MSD_OK;
	}
	if (is_tir(tag, "use_programtic_dependent_launch") || /* TVM's spelling */
	    is_tir(tag, "use_programmatic_dependent_launch")) {
		plan->is_programmatic = true;
		return MSD_OK;
	}
	if (is_tir(tag, "use_dyn_shared_memory")) {
		slot = SLOT_SHARED;
	} else if (msd_span_begins(tag, "vthread") || msd_span_begins(tag, "cthread")) {
		slot = SLOT_UNUSED;
	} else if (!axis_of(tag, &slot)) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "unknown launch parameter %.*s",
				    (int)(tag.n < 64 ? tag.n : 64),
				    (const char *)tag.p);
	}
	plan->slots[plan->n_slots++] = slot;
	return MSD_OK;
}

/* TVM's runtime launches kernels with scalars of 32 and 64 bits only, but its
 * compilers write all widths. */
static bool is_parameter(struct msd_dtype t)
{
	return t.lanes == 1 &&
	       (t.code == MSD_DT_HANDLE || msd_number_kind(t) != MSD_N_NONE);
}

static msd_err plan_fill(const struct msd_kernel *kernel, struct msd_launch_plan *plan,
			 struct msd_diag *d)
{
	char name[MSD_DTYPE_NAME_MAX];

	if (kernel->n_args > MSD_MAX_KERNEL_ARGS) {
		return msd_diag_set(d, MSD_UNSUPPORTED, "%zu parameters",
				    kernel->n_args);
	}
	for (size_t i = 0; i < kernel->n_args; i++) {
		if (!is_parameter(kernel->args[i])) {
			return msd_diag_set(d, MSD_UNSUPPORTED,
					    "parameter %zu is of type %s, which "
					    "cannot be passed to a kernel",
					    i, msd_dtype_format(kernel->args[i], name));
		}
	}
	plan->kernel = kernel;
	plan->slots = calloc(kernel->n_tags + 1, sizeof(*plan->slots));
	if (plan->slots == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; i < kernel->n_tags; i++) {
		msd_err err = tag_understand(plan, kernel->tags[i], d);
		if (err != MSD_OK)
			return err;
	}
	return MSD_OK;
}

msd_err msd_launch_plan_make(const struct msd_kernel *kernel,
			     struct msd_launch_plan *ret, struct msd_diag *d)
{
	*ret = (struct msd_launch_plan){0};
	msd_err err = plan_fill(kernel, ret, d);

	if (err == MSD_OK)
		return err;
	msd_launch_plan_finish(ret);
	return msd_diag_wrap(d, err, "kernel %.*s",
			     (int)(kernel->name.n < 128 ? kernel->name.n : 128),
			     (const char *)kernel->name.p);
}

void msd_launch_plan_finish(struct msd_launch_plan *plan)
{
	free(plan->slots);
	*plan = (struct msd_launch_plan){0};
}

/* One kernel parameter; a scalar of any width is at the start of the union. */
union value {
	uint64_t bits;
	void *p;
};

static msd_err refuse(int32_t i, const char *expected, const struct msd_any *v,
		      struct msd_diag *d)
{
	return msd_diag_set(d, MSD_BAD_ARGUMENT, "argument %d: expected %s, got %s", i,
			    expected, msd_type_name(v->type));
}

static msd_err pack_address(const struct msd_dev *dev, const struct msd_any *v,
			    int32_t i, union value *ret, struct msd_diag *d)
{
	const struct msd_dltensor *t = msd_any_dltensor(v);

	ret->p = NULL;
	if (v->type == MSD_T_NONE)
		return MSD_OK;
	if (v->type == MSD_T_POINTER) {
		ret->p = v->as.p;
		return MSD_OK;
	}
	if (t == NULL || t->device.type != dev->device.type ||
	    t->device.id != dev->device.id)
		return refuse(i, "a tensor on the kernel's device", v, d);
	ret->p = (char *)t->data + t->byte_offset;
	return MSD_OK;
}

static msd_err pack_number(struct msd_dtype type, const struct msd_any *v, int32_t i,
			   union value *ret, struct msd_diag *d)
{
	const bool is_int = v->type == MSD_T_INT || v->type == MSD_T_BOOL;

	if (type.code == MSD_DT_FLOAT || type.code == MSD_DT_BFLOAT) {
		if (!is_int && v->type != MSD_T_FLOAT)
			return refuse(i, "a float", v, d);
		msd_number_store_float(type, ret, 0,
				       is_int ? (double)v->as.i : v->as.f);
		return MSD_OK;
	}
	if (!is_int)
		return refuse(i, "an int", v, d);
	/* Little-endian, so narrower values are at the start; unsigned values are
	 * already widened. */
	ret->bits = (uint64_t)v->as.i;
	if (type.bits <= 8 && msd_dtype_is_bool(type))
		ret->bits = v->as.i != 0;
	return MSD_OK;
}

static msd_err pack(const struct msd_kernel *k, const struct msd_dev *dev,
		    const struct msd_any *args, union value *values, void **addresses,
		    struct msd_diag *d)
{
	msd_err err = MSD_OK;

	for (size_t i = 0; err == MSD_OK && i < k->n_args; i++) {
		addresses[i] = &values[i];
		if (k->args[i].code != MSD_DT_HANDLE) {
			err = pack_number(k->args[i], &args[i], (int32_t)i, &values[i],
					  d);
			continue;
		}
		err = pack_address(dev, &args[i], (int32_t)i, &values[i], d);
		if (err == MSD_OK && k->extra != NULL && k->extra[i] == 1) {
			if (args[i].type != MSD_T_POINTER || values[i].p == NULL)
				return refuse((int32_t)i, "a tensor map", &args[i], d);
			addresses[i] = values[i].p; /* the map is the parameter */
		}
	}
	return err;
}

static msd_err extents_read(const struct msd_launch_plan *plan,
			    const struct msd_any *args, struct msd_launch *launch,
			    struct msd_diag *d)
{
	uint32_t extent[N_SLOTS];

	for (size_t i = 0; i < N_SLOTS; i++)
		extent[i] = i == SLOT_SHARED ? 0 : 1;
	for (size_t i = 0; i < plan->n_slots; i++) {
		const struct msd_any *v = &args[plan->kernel->n_args + i];
		const bool is_shared = plan->slots[i] == SLOT_SHARED;
		if (v->type != MSD_T_INT || v->as.i < 0 || v->as.i > UINT32_MAX) {
			return msd_diag_set(d, MSD_BAD_ARGUMENT,
					    "launch parameter %zu: expected an int "
					    "from 0 to %" PRIu32,
					    i, UINT32_MAX);
		}
		extent[plan->slots[i]] =
			v->as.i == 0 && !is_shared ? 1 : (uint32_t)v->as.i;
	}
	memcpy(launch->grid, &extent[SLOT_GRID], sizeof(launch->grid));
	memcpy(launch->block, &extent[SLOT_BLOCK], sizeof(launch->block));
	memcpy(launch->cluster, &extent[SLOT_CLUSTER], sizeof(launch->cluster));
	memcpy(launch->preferred_cluster, &extent[SLOT_PREFERRED_CLUSTER],
	       sizeof(launch->preferred_cluster));
	launch->shared_bytes = extent[SLOT_SHARED];
	return MSD_OK;
}

msd_err msd_launch_run(const struct msd_launch_plan *plan, struct msd_dev *dev,
		       struct msd_dev_program *program, size_t index,
		       const struct msd_any *args, int32_t n, struct msd_diag *d)
{
	const struct msd_kernel *k = plan->kernel;
	union value values[MSD_MAX_KERNEL_ARGS];
	void *addresses[MSD_MAX_KERNEL_ARGS];
	struct msd_launch launch = {
		.kernel = k,
		.values = addresses,
		.is_cooperative = plan->is_cooperative,
		.is_programmatic = plan->is_programmatic,
	};

	if (n < 0 || (size_t)n != k->n_args + plan->n_slots) {
		return msd_diag_set(d, MSD_BAD_ARGUMENT,
				    "expected %zu arguments and %zu launch "
				    "parameters, got %d in all",
				    k->n_args, plan->n_slots, n);
	}
	msd_err err = pack(k, dev, args, values, addresses, d);
	if (err == MSD_OK)
		err = extents_read(plan, args, &launch, d);
	return err == MSD_OK ? dev->ops->launch(program, index, &launch, d) : err;
}
