/*
 * Module kinds with code for a device driver. The node is made from its blob when the
 * artifact is opened. The driver gets all of the code when the module is placed, so
 * an absent device or rejected code fails the load and not a call. Another device of
 * the same type gets the code at the first kernel call with tensors on it.
 */
#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "runtime/device/launch.h"
#include "runtime/kind/kinds.h"
#include "runtime/value/error.h"

struct device_node;

/* A kernel in the form that compiled host code calls. */
struct kernel_function {
	struct msd_function fn; /* first member: callers hold a pointer to it */
	struct device_node *owner;
	size_t index; /* index in the blob */
	char *name;   /* owned */
	struct msd_launch_plan plan;
	char *refusal; /* reason why the kernel cannot be launched, or NULL; owned */
};

/* "__tvm_prepare_global_barrier". Host code calls it before kernels with a barrier
 * over all their blocks (TVM 0.6 to 0.23). */
struct barrier_function {
	struct msd_function fn; /* first member */
	struct device_node *owner;
};
#define BARRIER "__tvm_prepare_global_barrier"

/* The code on one device. */
struct place {
	struct place *next;
	struct msd_dev *dev;
	struct msd_dev_program *program;
};

struct device_node {
	struct msd_node *node;
	const struct msd_device_ops *ops;
	struct msd_device_blob blob; /* its spans borrow from the file */
	struct kernel_function *kernels;
	struct barrier_function barrier;
	struct place first; /* dev is NULL until the module is placed, then constant */
	pthread_mutex_t lock; /* protects the other places */
	struct place *others;
};

static msd_err place_make(const struct device_node *n, struct msd_device device,
			  struct place *ret, struct msd_diag *d)
{
	struct msd_dev *dev;
	msd_err err = msd_dev_open(device, &dev, d);

	if (err != MSD_OK)
		return err;
	err = dev->ops->load(dev, &n->blob, &ret->program, d);
	if (err != MSD_OK) {
		msd_dev_close(dev);
		return msd_diag_wrap(d, err, "%s:%d", n->ops->name, device.id);
	}
	ret->dev = dev;
	return MSD_OK;
}

/* The caller holds the lock. */
static msd_err place_add(struct device_node *n, struct msd_device device,
			 const struct place **ret, struct msd_diag *d)
{
	struct place *p = calloc(1, sizeof(*p));

	if (p == NULL)
		return msd_diag_no_memory(d);
	msd_err err = place_make(n, device, p, d);
	if (err != MSD_OK) {
		free(p);
		return err;
	}
	p->next = n->others;
	n->others = p;
	*ret = p;
	return MSD_OK;
}

/* The place of the thread's tensors: host code set the device with __tvm_set_device. */
static msd_err place_find(struct device_node *n, const struct place **ret,
			  struct msd_diag *d)
{
	const struct msd_device now = msd_dev_current();
	const struct place *p;
	msd_err err = MSD_OK;

	*ret = &n->first;
	if (now.type != n->ops->type || now.id == n->first.dev->device.id)
		return MSD_OK;
	(void)pthread_mutex_lock(&n->lock);
	for (p = n->others; p != NULL && p->dev->device.id != now.id;)
		p = p->next;
	if (p != NULL) {
		*ret = p;
	} else {
		err = place_add(n, now, ret, d);
	}
	(void)pthread_mutex_unlock(&n->lock);
	return err;
}

/* The place where the code of @n runs for a call of @name. */
static msd_err place_for_call(struct device_node *n, const char *name,
			      const struct place **ret, struct msd_diag *d)
{
	if (n->first.dev == NULL) {
		return msd_diag_set(
			d, MSD_UNSUPPORTED,
			"%s is code for %s, but this module is only on the cpu", name,
			n->ops->name);
	}
	return place_find(n, ret, d);
}

static int end_call(msd_err err, struct msd_diag *d)
{
	if (err == MSD_OK)
		return 0;
	(void)msd_abi_raise_code(err, "%s", msd_diag_text(d));
	msd_diag_finish(d);
	return -1;
}

static int kernel_call(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct kernel_function *k = self;
	const struct place *place = NULL;
	struct msd_diag d = {0};

	(void)ret;
	if (k->refusal != NULL)
		return msd_abi_raise_code(MSD_UNSUPPORTED, "%s", k->refusal);
	msd_err err = place_for_call(k->owner, k->name, &place, &d);
	if (err == MSD_OK) {
		err = msd_launch_run(&k->plan, place->dev, place->program, k->index,
				     args, n, &d);
		if (err != MSD_OK) {
			(void)msd_diag_wrap(&d, err, "kernel %s on %s:%d", k->name,
					    k->owner->ops->name, place->dev->device.id);
		}
	}
	return end_call(err, &d);
}

static int barrier_call(void *self, const struct msd_any *args, int32_t n_args,
			struct msd_any *ret)
{
	const struct barrier_function *b = self;
	struct device_node *n = b->owner;
	const struct place *place = NULL;
	struct msd_diag d = {0};

	(void)args, (void)n_args, (void)ret;
	msd_err err = place_for_call(n, BARRIER, &place, &d);
	if (err == MSD_OK) {
		err = n->ops->reset_barrier(place->program, &d);
		if (err != MSD_OK)
			(void)msd_diag_wrap(&d, err, BARRIER);
	}
	return end_call(err, &d);
}

static msd_err kernel_make(struct device_node *n, size_t i, struct msd_diag *d)
{
	struct kernel_function *k = &n->kernels[i];
	const struct msd_kernel *kernel = &n->blob.kernels[i];

	k->owner = n;
	k->index = i;
	k->name = strndup((const char *)kernel->name.p, kernel->name.n);
	if (k->name == NULL)
		return msd_diag_no_memory(d);
	msd_function_init(&k->fn, k->name, kernel_call);
	/* One kernel that cannot be launched does not block the other kernels. */
	msd_err err = msd_launch_plan_make(kernel, &k->plan, d);
	if (err != MSD_UNSUPPORTED)
		return err;
	k->refusal = strdup(msd_diag_text(d));
	if (k->refusal == NULL)
		return msd_diag_no_memory(d);
	msd_diag_finish(d);
	return MSD_OK;
}

static msd_err device_open(struct msd_node *node, const struct msd_node_context *ctx,
			   struct msd_diag *d)
{
	struct device_node *n = calloc(1, sizeof(*n));
	struct msd_cur c = msd_cur_of(ctx->payload);

	if (n == NULL || pthread_mutex_init(&n->lock, NULL) != 0) {
		free(n);
		return msd_diag_no_memory(d);
	}
	node->state = n;
	n->node = node;
	n->ops = msd_device_ops_of_kind(node->kind);
	n->barrier.owner = n;
	msd_function_init(&n->barrier.fn, BARRIER, barrier_call);
	msd_err err = msd_device_blob_read(&c, ctx->era, &n->blob, d);
	if (err != MSD_OK)
		return err;
	n->kernels = calloc(n->blob.n_kernels + 1, sizeof(*n->kernels));
	if (n->kernels == NULL)
		return msd_diag_no_memory(d);
	for (size_t i = 0; err == MSD_OK && i < n->blob.n_kernels; i++)
		err = kernel_make(n, i, d);
	return err;
}

static msd_err device_place(struct msd_node *node, struct msd_device device,
			    struct msd_diag *d)
{
	struct device_node *n = node->state;

	if (device.type == MSD_DEV_CPU)
		return MSD_OK; /* host functions only */
	if (device.type != n->ops->type)
		device = (struct msd_device){n->ops->type, 0};
	return place_make(n, device, &n->first, d);
}

static struct msd_function *device_find(struct msd_node *node, const char *name)
{
	struct device_node *n = node->state;

	for (size_t i = 0; i < n->blob.n_kernels; i++) {
		if (strcmp(n->kernels[i].name, name) == 0)
			return &n->kernels[i].fn;
	}
	return n->ops->reset_barrier != NULL && strcmp(name, BARRIER) == 0
		       ? &n->barrier.fn
		       : NULL;
}

static void place_finish(const struct device_node *n, struct place *p)
{
	if (p->program != NULL)
		n->ops->unload(p->program);
	msd_dev_close(p->dev);
}

static void device_close(struct msd_node *node)
{
	struct device_node *n = node->state;

	if (n == NULL)
		return;
	while (n->others != NULL) {
		struct place *p = n->others;
		n->others = p->next;
		place_finish(n, p);
		free(p);
	}
	place_finish(n, &n->first);
	for (size_t i = 0; n->kernels != NULL && i < n->blob.n_kernels; i++) {
		msd_launch_plan_finish(&n->kernels[i].plan);
		free(n->kernels[i].name);
		free(n->kernels[i].refusal);
	}
	free(n->kernels);
	(void)pthread_mutex_destroy(&n->lock);
	msd_device_blob_finish(&n->blob);
	free(n);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_device = {
	.open = device_open,
	.place = device_place,
	.find = device_find,
	.close = device_close,
};
