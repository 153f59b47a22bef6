#include "runtime/abi/ffi.h"

#include <pthread.h>
#include <string.h>

#include "runtime/abi/context.h"
#include "runtime/value/error.h"

int msd_ffi_function_call(void *fn, const struct msd_any *args, int32_t n,
			  struct msd_any *ret)
{
	struct msd_function *f = fn;

	if (f == NULL)
		return msd_abi_raise("InternalError", "call of a NULL function handle");
	return f->call(f, args, n, ret);
}

int msd_ffi_lookup(void *ctx, const char *name, void **ret)
{
	struct msd_abi_context *context = ctx;
	struct msd_buf why = {0};

	if (context == NULL) {
		return msd_abi_raise(
			"RuntimeError",
			"Cannot find function %s: the library has no context", name);
	}
	struct msd_function *fn = context->find(context, name);
	if (fn != NULL) {
		*ret = fn;
		return 0;
	}
	context->explain(context, &why);
	(void)msd_abi_raise_code(why.n > 0 && !why.bad ? MSD_UNSUPPORTED
						       : MSD_CALL_FAILED,
				 "Cannot find function %s in the imported modules or "
				 "global registry%s%.*s",
				 name, why.n > 0 ? ": " : "", (int)why.n,
				 why.n > 0 ? (char *)why.p : "");
	msd_buf_finish(&why);
	return -1;
}

/* Compiled code initialises few handles, each once, so one lock is enough. It is
 * recursive because an initialiser may look up through another handle. */
static pthread_mutex_t once_lock = PTHREAD_RECURSIVE_MUTEX_INITIALIZER_NP;

int msd_ffi_handle_init_once(void **handle, int (*init)(void **ret))
{
	void *made = NULL;
	int rc = 0;

	if (__atomic_load_n(handle, __ATOMIC_ACQUIRE) != NULL)
		return 0;
	(void)pthread_mutex_lock(&once_lock);
	if (__atomic_load_n(handle, __ATOMIC_RELAXED) == NULL) {
		rc = init(&made);
		if (rc == 0 && made == NULL) {
			rc = msd_abi_raise("InternalError",
					   "a handle's initialiser gave none");
		}
		if (rc == 0)
			__atomic_store_n(handle, made, __ATOMIC_RELEASE);
	}
	(void)pthread_mutex_unlock(&once_lock);
	return rc;
}

int msd_ffi_run_once(void **handle, int (*f)(void *data), void *data, int n_bytes)
{
	static char done;
	int rc = 0;

	(void)n_bytes;
	if (__atomic_load_n(handle, __ATOMIC_ACQUIRE) != NULL)
		return 0;
	(void)pthread_mutex_lock(&once_lock);
	if (__atomic_load_n(handle, __ATOMIC_RELAXED) == NULL) {
		rc = f(data);
		if (rc == 0)
			__atomic_store_n(handle, &done, __ATOMIC_RELEASE);
	}
	(void)pthread_mutex_unlock(&once_lock);
	return rc;
}

void msd_ffi_raise(const char *kind, const char *message)
{
	(void)msd_abi_raise_bytes(kind, msd_span_of(message));
}

void msd_ffi_raise_parts(const char *kind, const char **parts, int32_t n)
{
	struct msd_buf text = {0};

	for (int32_t i = 0; i < n; i++) {
		if (parts[i] != NULL)
			msd_buf_put(&text, parts[i], strlen(parts[i]));
	}
	(void)msd_abi_raise_bytes(kind, (struct msd_span){text.p, text.n});
	msd_buf_finish(&text);
}
