#include "runtime/kernel/kernels.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "graph/plugin/plugin.h"

#define KERNEL_ROW(name) &msd_kernel_##name,
#define ROW(name, has) MSD_IF_##has(KERNEL_ROW, name)
static const struct msd_kernel *const kernels[] = {MSD_OPS(ROW)};
#undef ROW
#undef KERNEL_ROW

/* Kernels of plugins; the list only grows, at its head. */
struct added {
	struct msd_kernel row;
	const modserd_kernel *kernel;
	const struct added *next;
};
static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER; /* protects registration */
static _Atomic(const struct added *) list;

static const struct added *find_added(const char *op)
{
	for (const struct added *a = atomic_load(&list); a != NULL; a = a->next) {
		if (strcmp(a->row.op, op) == 0)
			return a;
	}
	return NULL;
}

static const struct msd_kernel *find_own(const char *op)
{
	for (size_t i = 0; i < sizeof(kernels) / sizeof(kernels[0]); i++) {
		if (strcmp(kernels[i]->op, op) == 0)
			return kernels[i];
	}
	return NULL;
}

bool msd_kernel_compute(const modser_sg_node *node, const void *const *in,
			void *const *out)
{
	const struct msd_kernel_call call = {.node = node, .in = in, .out = out};
	const struct msd_kernel *kernel =
		find_own(modser_sg_op_name(modser_sg_node_op(node)));
	struct msd_diag d = {0};
	const bool is_fine = kernel != NULL &&
			     msd_kernel_check(kernel, node, &d) == MSD_OK &&
			     kernel->run(&call, &d) == MSD_OK;

	msd_diag_finish(&d);
	return is_fine;
}

bool msd_kernel_is_own(const char *op)
{
	return find_own(op) != NULL;
}

const struct msd_kernel *msd_kernel_find(const char *op)
{
	const struct msd_kernel *own = find_own(op);

	if (own != NULL)
		return own;
	const struct added *a = find_added(op);
	return a != NULL ? &a->row : NULL;
}

/* Run function of all plugin kernels. The kernel exists because it was found for the
 * node. */
static msd_err run_added(const struct msd_kernel_call *c, struct msd_diag *d)
{
	const modserd_kernel_call call = {.node = c->node, .in = c->in, .out = c->out};
	const char *op = modser_sg_op_name(modser_sg_node_op(c->node));
	const struct added *a = find_added(op);
	char why[256] = "";

	if (a == NULL || a->kernel->run(&call, why, sizeof(why)) == 0)
		return MSD_OK;
	why[sizeof(why) - 1] = '\0';
	return msd_diag_set(d, MSD_CALL_FAILED, "%s: %s", op,
			    why[0] != '\0' ? why : "its kernel failed");
}

int msd_kernel_register(const modserd_kernel *kernel)
{
	if (!msd_plugin_check_kernel(kernel))
		return -1;
	struct added *mine = malloc(sizeof(*mine));
	int result = -1;

	if (mine == NULL)
		return -1;
	(void)pthread_mutex_lock(&lock);
	if (modser_sg_op_schema_find(kernel->op) != NULL &&
	    msd_kernel_find(kernel->op) == NULL) {
		*mine = (struct added){{kernel->op, run_added, MSD_TAKES_BYTES},
				       kernel,
				       atomic_load(&list)};
		atomic_store(&list, mine);
		mine = NULL;
		result = 0;
	}
	(void)pthread_mutex_unlock(&lock);
	free(mine);
	return result;
}
