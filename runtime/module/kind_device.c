/*
 * Module kinds whose code goes to a device's driver. The node is made from its blob
 * when the artifact is opened; the driver gets the code when the module is placed, all
 * of it, so that a device that is absent or code that it refuses fail the load and no
 * call.
 */
#include <stdlib.h>
#include <string.h>

#include "runtime/abi/error.h"
#include "runtime/device/launch.h"
#include "runtime/module/kinds.h"

struct device_node;

/* A kernel as compiled host code calls it. */
struct kernel_function {
	struct msd_function fn; /* first: what callers hold */
	struct device_node *owner;
	size_t index; /* in the blob */
	char *name;   /* owned */
	struct msd_launch_plan plan;
};

struct device_node {
	struct msd_node *node;
	const struct msd_device_ops *ops;
	struct msd_device_blob blob; /* its spans borrow from the file */
	struct kernel_function *kernels;
	struct msd_dev *dev; /* NULL until it is placed */
	struct msd_dev_program *program;
};

/* Host code has named its device with __tvm_set_device; it must be the one that has the
 * code. */
static int not_here(const struct kernel_function *k)
{
	const struct device_node *n = k->owner;
	const struct msd_device now = msd_dev_current();

	if (n->dev == NULL)
		return msd_abi_raise_code(
			MSD_UNSUPPORTED,
			"kernel %s is code for %s, and this module was placed on the "
			"cpu alone",
			k->name, n->ops->name);
	return msd_abi_raise_code(MSD_BAD_ARGUMENT,
				  "kernel %s is on %s:%d, the tensors are on device %d "
				  "of that type",
				  k->name, n->ops->name, n->dev->device.id, now.id);
}

static int kernel_call(void *self, const struct msd_any *args, int32_t n,
		       struct msd_any *ret)
{
	const struct kernel_function *k = self;
	const struct device_node *owner = k->owner;
	const struct msd_device now = msd_dev_current();
	struct msd_diag d = {0};

	(void)ret;
	if (owner->dev == NULL ||
	    (now.type == owner->dev->device.type && now.id != owner->dev->device.id))
		return not_here(k);
	msd_err err = msd_launch_run(&k->plan, owner->dev, owner->program, k->index,
				     args, n, &d);
	if (err == MSD_OK)
		return 0;
	(void)msd_abi_raise_code(err, "kernel %s on %s:%d: %s", k->name,
				 owner->ops->name, owner->dev->device.id,
				 msd_diag_text(&d));
	msd_diag_finish(&d);
	return -1;
}

static msd_err kernel_make(struct device_node *n, size_t i, struct msd_diag *d)
{
	struct kernel_function *k = &n->kernels[i];
	const struct msd_kernel *kernel = &n->blob.kernels[i];

	k->owner = n;
	k->index = i;
	k->name = strndup((const char *)kernel->name.p, kernel->name.n);
	if (k->name == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	msd_function_init(&k->fn, k->name, kernel_call);
	return msd_launch_plan_make(kernel, &k->plan, d);
}

static msd_err device_open(struct msd_node *node, const struct msd_node_context *ctx,
			   struct msd_diag *d)
{
	struct device_node *n = calloc(1, sizeof(*n));
	struct msd_cur c = msd_cur_of(ctx->payload);

	node->state = n;
	if (n == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	n->node = node;
	n->ops = msd_device_ops_of_kind(node->kind);
	msd_err err = msd_device_blob_read(&c, ctx->era, &n->blob, d);
	if (err != MSD_OK)
		return err;
	n->kernels = calloc(n->blob.n_kernels + 1, sizeof(*n->kernels));
	if (n->kernels == NULL)
		return msd_diag_set(d, MSD_NOMEM, "out of memory");
	for (size_t i = 0; err == MSD_OK && i < n->blob.n_kernels; i++)
		err = kernel_make(n, i, d);
	return err;
}

static msd_err device_place(struct msd_node *node, struct msd_device device,
			    struct msd_diag *d)
{
	struct device_node *n = node->state;
	struct msd_dev *dev;

	if (device.type == MSD_DEV_CPU)
		return MSD_OK; /* host functions alone */
	if (device.type != n->ops->type)
		device = (struct msd_device){n->ops->type, 0};
	msd_err err = msd_dev_open(device, &dev, d);
	if (err != MSD_OK)
		return err;
	err = dev->ops->load(dev, &n->blob, &n->program, d);
	if (err != MSD_OK) {
		msd_dev_close(dev);
		return msd_diag_wrap(d, err, "%s:%d", n->ops->name, device.id);
	}
	n->dev = dev;
	return MSD_OK;
}

static struct msd_function *device_find(struct msd_node *node, const char *name)
{
	struct device_node *n = node->state;

	for (size_t i = 0; i < n->blob.n_kernels; i++) {
		if (strcmp(n->kernels[i].name, name) == 0)
			return &n->kernels[i].fn;
	}
	return NULL;
}

static void device_close(struct msd_node *node)
{
	struct device_node *n = node->state;

	if (n == NULL)
		return;
	if (n->program != NULL)
		n->ops->unload(n->program);
	msd_dev_close(n->dev);
	for (size_t i = 0; n->kernels != NULL && i < n->blob.n_kernels; i++) {
		msd_launch_plan_finish(&n->kernels[i].plan);
		free(n->kernels[i].name);
	}
	free(n->kernels);
	msd_device_blob_finish(&n->blob);
	free(n);
	node->state = NULL;
}

const struct msd_node_ops msd_kind_cuda = {
	.kind = "cuda",
	.open = device_open,
	.place = device_place,
	.find = device_find,
	.close = device_close,
};

const struct msd_node_ops msd_kind_opencl = {
	.kind = "opencl",
	.open = device_open,
	.place = device_place,
	.find = device_find,
	.close = device_close,
};
