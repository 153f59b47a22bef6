#include "daemon/worker/handlers.h"

msd_handler *const msd_handlers[MSD_M_COUNT] = {
	[MSD_M_CALL] = msd_handle_call,
	[MSD_M_MODULE_INSTANCE] = msd_handle_instance,
	[MSD_M_INSTANCE_FREE] = msd_handle_instance_free,
	[MSD_M_OBJECT_FREE] = msd_handle_object_free,
	[MSD_M_OBJECT_DESCRIBE] = msd_handle_object_describe,
	[MSD_M_MODULE_PLAN] = msd_handle_plan,
	[MSD_M_MODULE_PROFILE] = msd_handle_call,
	[MSD_M_TENSOR_ALLOC] = msd_handle_tensor_alloc,
	[MSD_M_TENSOR_COPY] = msd_handle_tensor_copy,
	[MSD_M_TENSOR_FILL] = msd_handle_tensor_fill,
	[MSD_M_TENSOR_FREE] = msd_handle_tensor_free,
	[MSD_M_WORKER_OPEN] = msd_handle_open,
	[MSD_M_WORKER_RESUME] = msd_handle_resume,
};
