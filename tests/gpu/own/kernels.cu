// What TVM's default schedules do not generate, one kernel each. Features of 9.0 are left out for
// devices before it, whose driver refuses such launches.
#include <cassert>
#include <cstdint>
#if __CUDA_ARCH__ >= 900
#define HAS_90 1
#endif
#define TILE 16

// The name and size of TVM's own (0.6 to 0.23), which its barrier over all blocks adds up in.
extern "C" {
__device__ unsigned __tvm_global_barrier_state;
}

struct alignas(64) TensorMap {
	char bytes[128];
};

extern "C" __global__ void own_cluster(float *out)
{
	unsigned rank = 0, size = 1;
#ifdef HAS_90
	asm volatile("mov.u32 %0, %%cluster_ctarank;" : "=r"(rank));
	asm volatile("mov.u32 %0, %%cluster_nctarank;" : "=r"(size));
#endif
	if (threadIdx.x == 0)
		out[blockIdx.x] = float(rank) + 100.0f * float(size);
}

extern "C" __global__ void own_barrier(float *out, long long n)
{
	volatile unsigned *state = &__tvm_global_barrier_state;

	if (threadIdx.x == 0) {
		atomicAdd(&__tvm_global_barrier_state, 1u);
		while (*state < n)
			;
		out[blockIdx.x] = float(*state);
	}
}

extern "C" __global__ void own_first(const float *a, float *out, long long n)
{
	const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;

#ifdef HAS_90
	asm volatile("griddepcontrol.launch_dependents;");
#endif
	if (i < n)
		out[i] = a[i] + 1.0f;
}

extern "C" __global__ void own_second(float *out, long long n)
{
	const long long i = (long long)blockIdx.x * blockDim.x + threadIdx.x;

#ifdef HAS_90
	asm volatile("griddepcontrol.wait;" ::: "memory");
#endif
	if (i < n)
		out[i] *= 2.0f;
}

extern "C" __global__ void own_shared(float *out, long long n)
{
	extern __shared__ float room[];

	for (long long i = threadIdx.x; i < n; i += blockDim.x)
		room[i] = float(i);
	__syncthreads();
	for (long long i = threadIdx.x; i < n; i += blockDim.x)
		out[i] = room[n - 1 - i];
}

extern "C" __global__ void own_tiles(const __grid_constant__ TensorMap map, float *out,
				     long long columns)
{
#ifdef HAS_90
	__shared__ alignas(128) float tile[TILE * TILE];
	__shared__ alignas(8) uint64_t arrived;
	const uint32_t to = (uint32_t)__cvta_generic_to_shared(tile);
	const uint32_t bar = (uint32_t)__cvta_generic_to_shared(&arrived);
	const int x = int(blockIdx.x) * TILE, y = int(blockIdx.y) * TILE;
	const bool is_first = threadIdx.x == 0 && threadIdx.y == 0;

	if (is_first) {
		asm volatile("mbarrier.init.shared::cta.b64 [%0], 1;" ::"r"(bar));
		asm volatile("fence.proxy.async.shared::cta;");
	}
	__syncthreads();
	if (is_first) {
		asm volatile("mbarrier.arrive.expect_tx.shared::cta.b64 _, [%0], %1;" ::"r"(bar),
			     "r"((uint32_t)sizeof(tile))
			     : "memory");
		asm volatile("cp.async.bulk.tensor.2d.shared::cluster.global.mbarrier"
			     "::complete_tx::bytes [%0], [%1, {%2, %3}], [%4];" ::"r"(to),
			     "l"((uint64_t)&map), "r"(x), "r"(y), "r"(bar)
			     : "memory");
	}
	asm volatile("{ .reg .pred p;\n"
		     "AGAIN_%=: mbarrier.try_wait.parity.shared::cta.b64 p, [%0], 0;\n"
		     "@!p bra AGAIN_%=; }" ::"r"(bar)
		     : "memory");
	out[(y + threadIdx.y) * columns + x + threadIdx.x] =
		tile[threadIdx.y * TILE + threadIdx.x];
#endif
}

extern "C" __global__ void own_asserts(float *out)
{
	assert(out == nullptr);
}

extern "C" __global__ void own_outside(float *out)
{
	__shared__ float little[4];
	const uint32_t far = (uint32_t)__cvta_generic_to_shared(little) + (64u << 20);

	asm volatile("st.shared.f32 [%0], %1;" ::"r"(far), "f"(out[0]) : "memory");
}
