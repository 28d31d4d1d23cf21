/* The net of blocks: the reference is crawler/stages/models/net.py, whose training keeps all sums exact.
 *
 * Because no sum is rounded, the order of additions is free here: what is the same for all blocks of a group, or of a
 * page, is multiplied once. The compiler may not reorder (no -ffast-math); loops over the WIDTH values of a block are
 * independent sums, which it computes side by side.
 */
#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "native.h"

enum { WIDTH = 32, GROUPINGS = 3, LANES = 64 };
#define STEP 64.0  /* values between layers are multiples of 1 / STEP */
#define MOST 6.0f
#define LARGEST 64.0f
#define EPSILON 1e-5
#define SCALE 4096.0f

typedef struct { /* the weights, in units of 1; crawler/native/models.py fills it in */
    int32_t features, layers, borders;
    const int32_t *having;  /* features: how many borders each has, at most `borders` */
    const float *border;    /* features x borders, ascending */
    const float *places;    /* features x (borders + 1): the value behind so many borders */
    const float *first;     /* features x WIDTH */
    const float *first_bias;/* WIDTH */
    const int32_t *reach;   /* layers */
    const float *mix;       /* layers x 6 WIDTH x WIDTH */
    const float *page;      /* layers x 2 WIDTH x WIDTH */
    const float *bias;      /* layers x WIDTH */
    const float *out;       /* layers x WIDTH x WIDTH */
    const float *last;      /* WIDTH */
    const float *last_bias; /* 1 */
    const float *skip;      /* features */
} Net;

/* Round half to even, without a call: a float of that size has no bits behind the point. |value| < 2^22 and 2^51,
 * which the callers see to by cutting first. */
static inline float rounded(float value) { return (value + 12582912.0f) - 12582912.0f; }
static inline double rounded_exact(double value) { return (value + 6755399441055744.0) - 6755399441055744.0; }

static inline void add_product(float *restrict sum, const float *restrict values, const float *restrict weights) {
    for (int32_t i = 0; i < WIDTH; i++) {
        float value = values[i];
        const float *row = weights + i * WIDTH;
        for (int32_t j = 0; j < WIDTH; j++) sum[j] += value * row[j];
    }
}

static inline void rectify(float *values) {
    for (int32_t j = 0; j < WIDTH; j++) {
        float value = values[j] > 0.0f ? values[j] : 0.0f;
        value = value < MOST ? value : MOST;
        values[j] = rounded(value * (float)STEP) * (float)(1.0 / STEP);
    }
}

/* Each row with mean 0 and variance 1. */
static inline void normed(const float *restrict values, int64_t rows, double *restrict to) {
    for (int64_t r = 0; r < rows; r++) {
        double apart[WIDTH], sum = 0, squares = 0;
        for (int32_t j = 0; j < WIDTH; j++) {
            apart[j] = (double)values[r * WIDTH + j] * WIDTH;
            sum += apart[j];
        }
        sum /= WIDTH;
        for (int32_t j = 0; j < WIDTH; j++) {
            apart[j] -= sum;
            squares += apart[j] * apart[j];
        }
        double factor = STEP / sqrt(squares / WIDTH + EPSILON * WIDTH * WIDTH);
        for (int32_t j = 0; j < WIDTH; j++) to[r * WIDTH + j] = rounded_exact(apart[j] * factor) * (1.0 / STEP);
    }
}

/* The features of `lanes` rows from `begin` on as places between borders, row by row. */
static inline void binned(const Net *net, const float *columns, int64_t rows, int64_t begin, int32_t lanes,
                          float *restrict to) {
    for (int32_t f = 0; f < net->features; f++) {
        const float *values = columns + (int64_t)f * rows + begin, *border = net->border + (size_t)f * net->borders;
        const float *places = net->places + (size_t)f * (net->borders + 1);
        int32_t count[LANES] = {0};
        for (int32_t k = 0; k < net->having[f]; k++) {
            float limit = border[k];
            if (lanes == LANES)
                for (int32_t i = 0; i < LANES; i++) count[i] += values[i] > limit;
            else
                for (int32_t i = 0; i < lanes; i++) count[i] += values[i] > limit;
        }
        for (int32_t i = 0; i < lanes; i++) to[(size_t)i * net->features + f] = places[count[i]];
    }
}

typedef struct {
    float *h, *z, *x, *skipped, *means, *mixed;
    double *exact, *sums, *weights;
} Room;

static inline void run(const Net *net, const float *columns, int64_t rows, const double *weights,
                       const int32_t *groups, const int64_t *starts, Room *room, int64_t *odds) {
    float *h = room->h, *z = room->z;
    for (int64_t begin = 0; begin < rows; begin += LANES) {
        int32_t lanes = rows - begin < LANES ? (int32_t)(rows - begin) : LANES;
        binned(net, columns, rows, begin, lanes, room->x);
        for (int32_t i = 0; i < lanes; i++) {
            const float *x = room->x + (size_t)i * net->features;
            float sum[WIDTH] = {0}, skipped = 0;
            for (int32_t f = 0; f < net->features; f++) {
                float value = x[f];
                if (value == 0.0f) continue;
                const float *row = net->first + (size_t)f * WIDTH;
                for (int32_t j = 0; j < WIDTH; j++) sum[j] += value * row[j];
                skipped += value * net->skip[f];
            }
            float *to = h + (begin + i) * WIDTH;
            for (int32_t j = 0; j < WIDTH; j++) to[j] = sum[j] + net->first_bias[j];
            rectify(to);
            room->skipped[begin + i] = skipped;
        }
    }
    int64_t whole = starts[GROUPINGS]; /* the last group of all: the page */
    memset(room->weights, 0, sizeof(double) * (size_t)(whole + 1));
    for (int64_t r = 0; r < rows; r++) {
        for (int32_t k = 0; k < GROUPINGS; k++) room->weights[starts[k] + groups[k * rows + r]] += weights[r];
        room->weights[whole] += weights[r];
    }
    for (int32_t layer = 0; layer < net->layers; layer++) {
        const float *mix = net->mix + (size_t)layer * 6 * WIDTH * WIDTH;
        const float *page = net->page + (size_t)layer * 2 * WIDTH * WIDTH;
        const float *out = net->out + (size_t)layer * WIDTH * WIDTH;
        int64_t reach = net->reach[layer];
        normed(h, rows, room->exact);
        memset(room->sums, 0, sizeof(double) * (size_t)(whole + 1) * WIDTH);
        float most[WIDTH];
        for (int32_t j = 0; j < WIDTH; j++) most[j] = (float)room->exact[j];
        for (int64_t r = 0; r < rows; r++) {
            double weighted[WIDTH];
            for (int32_t j = 0; j < WIDTH; j++) {
                double value = room->exact[r * WIDTH + j];
                float single = (float)value;
                z[r * WIDTH + j] = single;
                most[j] = single > most[j] ? single : most[j];
                weighted[j] = value * weights[r];
            }
            for (int32_t k = 0; k < GROUPINGS; k++) {
                double *sum = room->sums + (starts[k] + groups[k * rows + r]) * WIDTH;
                for (int32_t j = 0; j < WIDTH; j++) sum[j] += weighted[j];
            }
            double *sum = room->sums + whole * WIDTH;
            for (int32_t j = 0; j < WIDTH; j++) sum[j] += weighted[j];
        }
        for (int64_t g = 0; g <= whole; g++)
            for (int32_t j = 0; j < WIDTH; j++)
                room->means[g * WIDTH + j] =
                    (float)(rounded_exact(room->sums[g * WIDTH + j] / room->weights[g] * STEP) / STEP);
        float base[WIDTH];
        memcpy(base, net->bias + (size_t)layer * WIDTH, sizeof base);
        add_product(base, room->means + whole * WIDTH, page);
        add_product(base, most, page + WIDTH * WIDTH);
        for (int32_t k = 0; k < GROUPINGS; k++) /* once a group, not once a block */
            for (int64_t g = starts[k]; g < starts[k + 1]; g++) {
                float sum[WIDTH] = {0};
                add_product(sum, room->means + g * WIDTH, mix + (3 + k) * WIDTH * WIDTH);
                memcpy(room->mixed + g * WIDTH, sum, sizeof sum);
            }
        for (int64_t r = 0; r < rows; r++) {
            float sum[WIDTH], more[WIDTH] = {0};
            memcpy(sum, base, sizeof sum);
            add_product(sum, z + r * WIDTH, mix);
            if (reach > 0 && r >= reach) add_product(sum, z + (r - reach) * WIDTH, mix + WIDTH * WIDTH);
            if (reach > 0 && r + reach < rows) add_product(sum, z + (r + reach) * WIDTH, mix + 2 * WIDTH * WIDTH);
            for (int32_t k = 0; k < GROUPINGS; k++) {
                const float *mixed = room->mixed + (starts[k] + groups[k * rows + r]) * WIDTH;
                for (int32_t j = 0; j < WIDTH; j++) sum[j] += mixed[j];
            }
            rectify(sum);
            add_product(more, sum, out);
            for (int32_t j = 0; j < WIDTH; j++) { /* cut first: LARGEST is a multiple of the step */
                float value = h[r * WIDTH + j] + more[j];
                value = value < -LARGEST ? -LARGEST : value > LARGEST ? LARGEST : value;
                h[r * WIDTH + j] = rounded(value * (float)STEP) * (float)(1.0 / STEP);
            }
        }
    }
    normed(h, rows, room->exact);
    for (int64_t r = 0; r < rows; r++) {
        float sum = 0;
        for (int32_t j = 0; j < WIDTH; j++) sum += (float)room->exact[r * WIDTH + j] * net->last[j];
        odds[r] = (int64_t)floorf((sum + room->skipped[r] + net->last_bias[0]) * SCALE);
    }
}

#if defined(__x86_64__) && defined(__clang__)
__attribute__((target("avx2"), flatten)) static void run_avx2(const Net *net, const float *columns, int64_t rows,
                                                               const double *weights, const int32_t *groups,
                                                               const int64_t *starts, Room *room, int64_t *odds) {
    run(net, columns, rows, weights, groups, starts, room, odds);
}
#endif

/* columns: features x rows. weights: of each row, whole numbers from 8 on. groups: GROUPINGS x rows, numbers from 0
 * on; starts: GROUPINGS + 1, where the numbers of a grouping begin among all groups. odds: rows.
 * The caller has checked: 0 <= groups[k][r] < starts[k + 1] - starts[k], groups have rows, reach >= 0, rows > 0. */
NATIVE_API int32_t native_net(const Net *net, const float *columns, int64_t rows, const double *weights,
                              const int32_t *groups, const int64_t *starts, int64_t *odds) {
    size_t block = (size_t)rows * WIDTH, all = (size_t)(starts[GROUPINGS] + 1) * WIDTH;
    Room room = {
        .h = malloc(sizeof(float) * block),
        .z = malloc(sizeof(float) * block),
        .x = malloc(sizeof(float) * LANES * (size_t)(net->features + 1)),
        .skipped = malloc(sizeof(float) * (size_t)rows),
        .means = malloc(sizeof(float) * all),
        .mixed = malloc(sizeof(float) * all),
        .exact = malloc(sizeof(double) * block),
        .sums = malloc(sizeof(double) * all),
        .weights = malloc(sizeof(double) * all / WIDTH),
    };
    int32_t answer = NATIVE_NO_MEMORY;
    if (room.h && room.z && room.x && room.skipped && room.means && room.mixed && room.exact && room.sums &&
        room.weights) {
#if defined(__x86_64__) && defined(__clang__)
        if (__builtin_cpu_supports("avx2"))
            run_avx2(net, columns, rows, weights, groups, starts, &room, odds);
        else
#endif
            run(net, columns, rows, weights, groups, starts, &room, odds);
        answer = NATIVE_OK;
    }
    free(room.h), free(room.z), free(room.x), free(room.skipped), free(room.means), free(room.mixed);
    free(room.exact), free(room.sums), free(room.weights);
    return answer;
}
