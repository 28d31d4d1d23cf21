/* From the hashes of a text's words to its MinHash signature: the reference is `_runs` and `signature` of
 * stages/fingerprint.py. A minimum does not depend on the order, so nothing is sorted here. */
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { BATCH = 512 };

static inline uint64_t mixed(uint64_t number) { /* the finaliser of MurmurHash3's 64 bits */
    number = (number ^ number >> 33) * 0xFF51AFD7ED558CCDull;
    number = (number ^ number >> 33) * 0xC4CEB9FE1A85EC53ull;
    return number ^ number >> 33;
}

/* The different mixed polynomials of all runs of `size` hashes, to `found`; answers how many. slots: a power of two,
 * at least twice as many as there are runs, all zero; 0 itself is remembered beside them. */
static int64_t different(const uint64_t *hashes, int64_t runs, int64_t size, uint64_t *slots, uint64_t mask,
                         uint32_t *found) {
    int64_t count = 0;
    int has_zero = 0;
    for (int64_t i = 0; i < runs; i++) {
        uint64_t number = hashes[i];
        for (int64_t place = 1; place < size; place++) number = number * 0x9E3779B97F4A7C15ull + hashes[i + place];
        number = mixed(number);
        if (!number) {
            if (!has_zero) found[count++] = 0;
            has_zero = 1;
            continue;
        }
        uint64_t slot = number & mask;
        while (slots[slot] && slots[slot] != number) slot = (slot + 1) & mask;
        if (slots[slot]) continue;
        slots[slot] = number;
        found[count++] = (uint32_t)(number >> 32);
    }
    return count;
}

static inline void least_of(const uint32_t *found, int64_t count, const uint32_t *factors, const uint32_t *offsets,
                            int32_t permutations, uint32_t *least) {
    for (int32_t p = 0; p < permutations; p++) least[p] = UINT32_MAX;
    for (int64_t begin = 0; begin < count; begin += BATCH) { /* so many stay in the processor's cache */
        int64_t end = count - begin < BATCH ? count : begin + BATCH;
        for (int32_t p = 0; p < permutations; p++) {
            uint32_t factor = factors[p], offset = offsets[p], lowest = least[p];
            for (int64_t i = begin; i < end; i++) {
                uint32_t value = found[i] * factor + offset;
                lowest = value < lowest ? value : lowest;
            }
            least[p] = lowest;
        }
    }
}

#if defined(__x86_64__) && defined(__clang__)
__attribute__((target("avx2"), flatten)) static void least_of_avx2(const uint32_t *found, int64_t count,
                                                                    const uint32_t *factors, const uint32_t *offsets,
                                                                    int32_t permutations, uint32_t *least) {
    least_of(found, count, factors, offsets, permutations, least);
}
#endif

/* hashes: of the units of a text; size: units of a shingle, at least 1 and at most `many`, which is not 0.
 * least: permutations, the signature. Answers the number of different shingles, or NATIVE_NO_MEMORY. */
NATIVE_API int64_t native_minhash(const uint64_t *hashes, int64_t many, int64_t size, const uint32_t *factors,
                                  const uint32_t *offsets, int32_t permutations, uint32_t *least) {
    int64_t runs = many - size + 1, count = NATIVE_NO_MEMORY;
    uint64_t slots = 64;
    while (slots < (uint64_t)runs * 2) slots *= 2;
    uint64_t *table = calloc(slots, sizeof *table);
    uint32_t *found = malloc(sizeof *found * (size_t)(runs + 1));
    if (table && found) {
        count = different(hashes, runs, size, table, slots - 1, found);
#if defined(__x86_64__) && defined(__clang__)
        if (__builtin_cpu_supports("avx2"))
            least_of_avx2(found, count, factors, offsets, permutations, least);
        else
#endif
            least_of(found, count, factors, offsets, permutations, least);
    }
    free(table), free(found);
    return count;
}
