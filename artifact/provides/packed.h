#ifndef MSD_ARTIFACT_PROVIDES_PACKED_H
#define MSD_ARTIFACT_PROVIDES_PACKED_H
/*
 * Packed functions of this build's runtime, by TVM's names: one list for each source
 * file, of rows X(name, function). The source file builds its table from the list,
 * with its static functions; provides.c uses the names. So the runtime and the
 * published list cannot differ. A function is one row here.
 */

/* runtime/packed/device.c */
#define MSD_PACKED_DEVICE(X) X("__tvm_set_device", set_device)

/* runtime/packed/cuda.c */
#define MSD_PACKED_CUDA(X)                                                             \
	X("runtime.cuTensorMapEncodeTiled", encode_tiled)                              \
	X("runtime.get_cuda_stream", get_stream)                                       \
	X("runtime.GetCudaDeviceCount", get_device_count)                              \
	X("runtime.GetCudaFreeMemory", get_free_memory)

/* runtime/packed/check.c */
#define MSD_PACKED_CHECK(X)                                                            \
	X("vm.builtin.check_tensor_info", check_tensor_info)                           \
	X("vm.builtin.check_shape_info", check_shape_info)                             \
	X("vm.builtin.check_tuple_info", check_tuple_info)                             \
	X("vm.builtin.check_prim_value_info", check_prim_value_info)                   \
	X("vm.builtin.check_func_info", check_func_info)                               \
	X("vm.builtin.check_string_info", check_string_info)

/* runtime/packed/shape.c */
#define MSD_PACKED_SHAPE(X)                                                            \
	X("vm.builtin.match_shape", match_shape)                                       \
	X("vm.builtin.match_prim_value", match_prim_value)                             \
	X("vm.builtin.make_shape", make_shape)                                         \
	X("vm.builtin.make_prim_value", make_prim_value)

/* runtime/packed/memory.c */
#define MSD_PACKED_MEMORY(X)                                                           \
	X("vm.builtin.alloc_shape_heap", alloc_shape_heap)                             \
	X("vm.builtin.alloc_storage", alloc_storage)                                   \
	X("vm.builtin.alloc_tensor", alloc_tensor)                                     \
	X("vm.builtin.null_value", null_value)                                         \
	X("vm.builtin.memory_manager.clear", memory_manager_clear)

/* runtime/packed/tensor.c */
#define MSD_PACKED_TENSOR(X)                                                           \
	X("vm.builtin.reshape", reshape)                                               \
	X("runtime.TVMTensorCreateView", create_view)                                  \
	X("runtime.TVMArrayCreateView", create_view) /* its name up to 0.20 */         \
	X("vm.builtin.shape_of", shape_of)                                             \
	X("vm.builtin.copy", copy)                                                     \
	X("vm.builtin.tensor_to_shape", tensor_to_shape)                               \
	X("relax.run.shape_to_tensor", shape_to_tensor)                                \
	X("vm.builtin.read_if_cond", read_if_cond)                                     \
	X("vm.builtin.to_device", to_device)                                           \
	X("vm.builtin.ensure_zero_offset", ensure_zero_offset)

/* runtime/packed/tuple.c */
#define MSD_PACKED_TUPLE(X)                                                            \
	X("vm.builtin.make_tuple", make_tuple)                                         \
	X("vm.builtin.tuple_getitem", tuple_getitem)                                   \
	X("vm.builtin.tuple_reset_item", tuple_reset_item)

/* runtime/packed/call.c */
#define MSD_PACKED_CALL(X)                                                             \
	X("vm.builtin.make_closure", make_closure)                                     \
	X("vm.builtin.invoke_closure", invoke_closure)                                 \
	X("vm.builtin.call_tir_dyn", call_tir_dyn)

/* runtime/packed/cuda_graph.c */
#define MSD_PACKED_CUDA_GRAPH(X)                                                       \
	X("vm.builtin.cuda_graph.run_or_capture", cuda_graph_run_or_capture)           \
	X("vm.builtin.cuda_graph.get_cached_alloc", cuda_graph_get_cached_alloc)

/* runtime/packed/sort.c */
#define MSD_PACKED_SORT(X)                                                             \
	X("tvm.contrib.sort.argsort", argsort)                                         \
	X("tvm.contrib.sort.sort", sort)                                               \
	X("tvm.contrib.sort.topk", topk)                                               \
	X("tvm.contrib.sort.argsort_nms", argsort_nms)

/* runtime/packed/set.c */
#define MSD_PACKED_SET(X)                                                              \
	X("relax.run.nonzero", nonzero)                                                \
	X("relax.run.unique", unique)

/* runtime/packed/random.c */
#define MSD_PACKED_RANDOM(X)                                                           \
	X("tvm.contrib.random.uniform", uniform)                                       \
	X("tvm.contrib.random.normal", normal)                                         \
	X("tvm.contrib.random.randint", randint)                                       \
	X("tvm.contrib.random.random_fill", random_fill)                               \
	X("tvm.contrib.random.random_fill_for_measure", random_fill)                   \
	X("tvm.contrib.random.seed", seed)

/* runtime/packed/blas.c */
#define MSD_PACKED_BLAS(X)                                                             \
	X("tvm.contrib.cblas.matmul", matmul)                                          \
	X("tvm.contrib.cblas.batch_matmul", batch_matmul)                              \
	X("tvm.contrib.cblas.batch_matmul_iterative", batch_matmul)

/* runtime/packed/kv_state.c */
#define MSD_PACKED_KV_STATE(X)                                                         \
	X("vm.builtin.kv_state_clear", clear)                                          \
	X("vm.builtin.kv_state_add_sequence", add_sequence)                            \
	X("vm.builtin.kv_state_remove_sequence", remove_sequence)                      \
	X("vm.builtin.kv_state_fork_sequence", fork_sequence)                          \
	X("vm.builtin.kv_state_popn", popn)                                            \
	X("vm.builtin.kv_state_begin_forward", begin_forward)                          \
	X("vm.builtin.kv_state_end_forward", end_forward)

/* runtime/packed/kv_cache_create.c */
#define MSD_PACKED_KV_CACHE_CREATE(X)                                                  \
	X("vm.builtin.paged_attention_kv_cache_create", create)

/* runtime/packed/kv_cache.c */
#define MSD_PACKED_KV_CACHE(X)                                                         \
	X("vm.builtin.attention_kv_cache_enable_sliding_window_for_seq",               \
	  enable_window)                                                               \
	X("vm.builtin.attention_kv_cache_commit_accepted_token_tree_nodes",            \
	  accept_nodes)                                                                \
	X("vm.builtin.attention_kv_cache_empty", empty)                                \
	X("vm.builtin.attention_kv_cache_get_num_available_pages", available_pages)    \
	X("vm.builtin.attention_kv_cache_get_total_sequence_length", total_length)     \
	X("vm.builtin.attention_kv_cache_get_sequence_length", sequence_length)        \
	X("vm.builtin.attention_kv_cache_get_query_positions", query_positions)        \
	X("vm.builtin.attention_kv_cache_debug_get_kv", debug_get_kv)                  \
	X("vm.builtin.attention_kv_cache_debug_get_kv_mla", debug_get_kv_mla)          \
	X("vm.builtin.attention_kv_cache_attention_with_fused_qkv", attention_fused)   \
	X("vm.builtin.attention_kv_cache_self_attention", attention_self)              \
	X("vm.builtin.attention_kv_cache_cross_attention", attention_cross)            \
	X("vm.builtin.attention_kv_cache_attention_with_shared_kv", attention_shared)  \
	X("vm.builtin.attention_kv_cache_append_mla_kv", append_mla)                   \
	X("vm.builtin.attention_kv_cache_merge_attn_output_inplace", merge)

/* runtime/packed/kv_checkpoint.c */
#define MSD_PACKED_KV_CHECKPOINT(X)                                                    \
	X("vm.builtin.attention_kv_cache_get_checkpoint_metadata", export_text)        \
	X("vm.builtin.attention_kv_cache_get_layout_hash", layout_hash)                \
	X("vm.builtin.attention_kv_cache_export_page_group", export_group)             \
	X("vm.builtin.attention_kv_cache_prepare_import", prepare_import)              \
	X("vm.builtin.attention_kv_cache_import_page_group", import_group)             \
	X("vm.builtin.attention_kv_cache_finish_import", finish_import)                \
	X("vm.builtin.kv_cache_disagg_prepare_recv", refuse_transfer)                  \
	X("vm.builtin.kv_cache_disagg_mark_send", refuse_transfer)

/* runtime/packed/rnn_state.c */
#define MSD_PACKED_RNN_STATE(X)                                                        \
	X("vm.builtin.rnn_state_create", create)                                       \
	X("vm.builtin.rnn_state_get", get)                                             \
	X("vm.builtin.rnn_state_set", set)                                             \
	X("vm.builtin.rnn_state_debug_get", debug_get)

/* runtime/packed/kv_older.c */
#define MSD_PACKED_KV_OLDER(X)                                                         \
	X("vm.builtin.attention_kv_cache_create", create)                              \
	X("vm.builtin.attention_kv_cache_append", append)                              \
	X("vm.builtin.attention_kv_cache_update", update)                              \
	X("vm.builtin.attention_kv_cache_view", view)                                  \
	X("vm.builtin.attention_kv_cache_window_override", window_override)            \
	X("vm.builtin.attention_kv_cache_window_override_with_sinks",                  \
	  window_override_sinks)                                                       \
	X("vm.builtin.attention_kv_cache_array_popn", array_popn)                      \
	X("vm.builtin.attention_kv_cache_array_clear", array_clear)

/* runtime/packed/sample.c */
#define MSD_PACKED_SAMPLE(X)                                                           \
	X("vm.builtin.sample_top_p_from_logits", top_p_from_logits)                    \
	X("vm.builtin.sample_top_p_from_prob", top_p_from_prob)                        \
	X("vm.builtin.multinomial_from_uniform", multinomial)                          \
	X("vm.builtin.apply_repetition_penalty", repetition_penalty)                   \
	X("vm.builtin.apply_presence_and_frequency_penalty", presence_penalty)         \
	X("vm.builtin.apply_softmax_with_temperature", softmax)

/* runtime/packed/tensor_cache.c */
#define MSD_PACKED_TENSOR_CACHE(X)                                                     \
	X("vm.builtin.tensor_cache.get", get)                                          \
	X("vm.builtin.tensor_cache.update", update)                                    \
	X("vm.builtin.tensor_cache.remove", remove_one)                                \
	X("vm.builtin.tensor_cache.clear", clear)                                      \
	X("vm.builtin.tensor_cache.load", refuse_load)                                 \
	X("vm.builtin.ndarray_cache.get", get) /* up to 0.21 */                        \
	X("vm.builtin.ndarray_cache.update", update)                                   \
	X("vm.builtin.ndarray_cache.remove", remove_one)                               \
	X("vm.builtin.ndarray_cache.clear", clear)                                     \
	X("vm.builtin.ndarray_cache.load", refuse_load)                                \
	X("vm.builtin.param_array_from_cache", array_from_cache)                       \
	X("vm.builtin.param_array_from_cache_by_name", array_by_name)                  \
	X("vm.builtin.param_array_from_cache_by_name_unpacked",                        \
	  array_by_name_unpacked)                                                      \
	X("vm.builtin.param_module_from_cache", refuse_module)                         \
	X("vm.builtin.param_module_from_cache_by_name", refuse_module)

/* runtime/packed/print.c */
#define MSD_PACKED_PRINT(X)                                                            \
	X("relax.run.print", print)                                                    \
	X("relax.run.assert_op", assert_op)                                            \
	X("vm.builtin.debug_print", debug_print)

/* runtime/packed/ffi.c */
#define MSD_PACKED_FFI(X)                                                              \
	X("ffi.Array", array)                                                          \
	X("ffi.Bytes", bytes)                                                          \
	X("ffi.FunctionListGlobalNamesFunctor", list_names)                            \
	X("ffi.FunctionRemoveGlobal", remove_global)                                   \
	X("ffi.Map", map)                                                              \
	X("ffi.Shape", shape)                                                          \
	X("ffi.String", string)

/*
 * The lists, with the name of each table: T(name, list, users). A table is one row
 * here. CLIENTS may call its functions by name, as if they were the module's: drivers
 * of language models do so with the state that the model returned. All others are for
 * the MODULE alone.
 */
#define MSD_PACKED_MAP(T)                                                              \
	T(device, MSD_PACKED_DEVICE, MODULE)                                           \
	T(cuda, MSD_PACKED_CUDA, MODULE)                                               \
	T(check, MSD_PACKED_CHECK, MODULE)                                             \
	T(shape, MSD_PACKED_SHAPE, MODULE)                                             \
	T(memory, MSD_PACKED_MEMORY, MODULE)                                           \
	T(tensor_cache, MSD_PACKED_TENSOR_CACHE, MODULE)                               \
	T(tensor, MSD_PACKED_TENSOR, MODULE)                                           \
	T(tuple, MSD_PACKED_TUPLE, MODULE)                                             \
	T(call, MSD_PACKED_CALL, MODULE)                                               \
	T(cuda_graph, MSD_PACKED_CUDA_GRAPH, MODULE)                                   \
	T(sort, MSD_PACKED_SORT, MODULE)                                               \
	T(set, MSD_PACKED_SET, MODULE)                                                 \
	T(random, MSD_PACKED_RANDOM, MODULE)                                           \
	T(blas, MSD_PACKED_BLAS, MODULE)                                               \
	T(kv_state, MSD_PACKED_KV_STATE, CLIENTS)                                      \
	T(kv_cache_create, MSD_PACKED_KV_CACHE_CREATE, MODULE)                         \
	T(kv_cache, MSD_PACKED_KV_CACHE, CLIENTS)                                      \
	T(kv_checkpoint, MSD_PACKED_KV_CHECKPOINT, CLIENTS)                            \
	T(rnn_state, MSD_PACKED_RNN_STATE, CLIENTS)                                    \
	T(kv_older, MSD_PACKED_KV_OLDER, CLIENTS)                                      \
	T(sample, MSD_PACKED_SAMPLE, MODULE)                                           \
	T(print, MSD_PACKED_PRINT, MODULE)                                             \
	T(ffi, MSD_PACKED_FFI, MODULE)

#endif
