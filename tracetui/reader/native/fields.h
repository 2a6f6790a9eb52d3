/* Values of events as numbers; each function is false for what has to be read with more care. */

#ifndef TRACETUI_FIELDS_H
#define TRACETUI_FIELDS_H

#define Py_LIMITED_API 0x03090000
#include <Python.h>

#include <float.h>
#include <math.h>

#include "json.h"

#define LATEST_US 4611686018427387 /* 2**62 ns: what is later is no time */
#define EXACT_DIGITS 15            /* of a decimal number that a float64 tells from all others */
#define NONE_ID 0xFFFFFFFF         /* an id that links nothing */

static const int64_t POWERS[] = {
    1,
    10,
    100,
    1000,
    10000,
    100000,
    1000000,
    10000000,
    100000000,
    1000000000,
    10000000000,
    100000000000,
    1000000000000,
    10000000000000,
    100000000000000,
    1000000000000000,
    10000000000000000,
    100000000000000000,
    1000000000000000000,
};

/* A number, or a string that spells one, as digits with a dot among them. */
typedef struct {
    const char *start, *end; /* without quotes and sign */
    const char *dot;         /* `end` where there is none */
    bool negative;
} Digits;

static inline bool digits_of(const Value *value, Digits *digits) {
    const char *at = value->start, *end = value->end;
    if (value->type == '"') at++, end--;
    else if (value->type != '0') return false;
    digits->negative = at < end && *at == '-';
    if (digits->negative) at++;
    digits->start = at;
    digits->end = digits->dot = end;
    for (; at < end; at++) {
        if (is_digit(*at)) continue;
        if (*at != '.' || digits->dot != end) return false;
        digits->dot = at;
    }
    return digits->dot > digits->start && digits->dot + 1 != end;
}

static inline int64_t whole_of(const char *at, const char *end) {
    int64_t whole = 0;
    for (; at < end; at++) whole = whole * 10 + (*at - '0');
    return whole;
}

/* A timestamp in us as ns, the fraction cut. */
static inline bool time_of(const Value *value, int64_t *time) {
    Digits digits;
    if (!digits_of(value, &digits) || digits.negative || digits.dot - digits.start > MOST_DIGITS) return false;
    int64_t whole = whole_of(digits.start, digits.dot), fraction = 0;
    if (whole >= LATEST_US) return false;
    const char *at = digits.dot + 1;
    for (int place = 0; place < 3; place++) fraction = fraction * 10 + (at < digits.end ? *at++ - '0' : 0);
    *time = whole * 1000 + fraction;
    return true;
}

static inline ptrdiff_t fraction_digits(const Digits *digits) {
    return digits->dot < digits->end ? digits->end - digits->dot - 1 : 0;
}

/* The digits of a number that has at most so many; with its sign, and times 10 to the power of those behind the dot. */
static inline bool whole_of_all(const Digits *digits, int most, int64_t *all) {
    ptrdiff_t fraction = fraction_digits(digits);
    if (digits->dot - digits->start + fraction > most) return false;
    *all = whole_of(digits->start, digits->dot) * POWERS[fraction];
    if (fraction) *all += whole_of(digits->dot + 1, digits->end);
    if (digits->negative) *all = -*all;
    return true;
}

/* A number of us as ns, rounded half to even; 0 for a negative one. */
static inline bool rounded_ns(const Digits *digits, int most, int64_t *duration) {
    int64_t all;
    if (!whole_of_all(digits, most, &all)) return false;
    ptrdiff_t fraction = fraction_digits(digits);
    if (fraction <= 3) {
        if (all > POWERS[EXACT_DIGITS]) return false;
        *duration = all * POWERS[3 - fraction];
    } else {
        int64_t unit = POWERS[fraction - 3], twice = all % unit * 2;
        *duration = all / unit;
        *duration += twice > unit || (twice == unit && *duration % 2);
    }
    if (*duration < 0) *duration = 0;
    return true;
}

/* A duration in us as ns, rounded half to even; 0 for a negative one. */
static inline bool duration_of(const Value *value, int64_t *duration) {
    Digits digits;
    if (digits_of(value, &digits) && rounded_ns(&digits, EXACT_DIGITS, duration)) return true;
    if (value->type != '0') return false;
    char *end;
    double us = PyOS_string_to_double(value->start, &end, NULL), ns = us * 1000.0, rounded = rint(ns);
    if (end != value->end || !(ns >= 0 && ns < 1e12)) return false;
    if (fabs(ns - rounded) < 0.4995) {
        *duration = (int64_t)rounded;
        return true;
    }
    /* So near to a half the shortest digits that are this float decide, as they do in `timestamps.duration`. */
    char *shortest = PyOS_double_to_string(us, 'r', 0, 0, NULL);
    if (!shortest) return false;
    Value again = {shortest, shortest + strlen(shortest), '0', false};
    bool ok = digits_of(&again, &digits) && rounded_ns(&digits, MOST_DIGITS, duration);
    PyMem_Free(shortest);
    return ok;
}

/* The nearest float64 of a number, or of a string that spells a short one. */
static inline bool float_of(const Value *value, double *number) {
    Digits digits;
#if FLT_EVAL_METHOD == 0
    int64_t all;
    if (digits_of(value, &digits) && whole_of_all(&digits, EXACT_DIGITS, &all)) {
        /* Both are exact as floats, so their quotient is the nearest one. */
        *number = (double)all / (double)POWERS[fraction_digits(&digits)];
        if (!all && digits.negative && digits.dot < digits.end) *number = -0.0; /* -0.0 has a sign, -0 has none */
        return true;
    }
#endif
    if (value->type != '0') return false;
    char *end;
    *number = PyOS_string_to_double(value->start, &end, NULL);
    return end == value->end && isfinite(*number);
}

/* An id: an integer, or a string of digits, that surely fits 63 bits. */
static inline bool id_of(const Value *value, int64_t *id) {
    Digits digits;
    if (!digits_of(value, &digits) || digits.negative || digits.dot != digits.end) return false;
    if (digits.end - digits.start > MOST_DIGITS) return false;
    *id = whole_of(digits.start, digits.end);
    return true;
}

/* An id that may be missing; -1 for none, and for what is no id below `limit`. */
static inline bool id_or_none_of(const Value *value, int64_t limit, int64_t *id) {
    Digits digits;
    bool number = digits_of(value, &digits) && digits.dot == digits.end;
    *id = -1;
    if (!value->type || value->type == 'n') return true;
    if (value->type == '"' ? value->escaped : !number) return false;
    if (!number || (digits.negative && (value->type == '"' || *digits.start != '0'))) return true; /* -0 is 0 */
    if (digits.end - digits.start > MOST_DIGITS) /* 20 digits without a leading zero are more than 64 bits */
        return value->type == '0' && digits.end - digits.start >= 20;
    int64_t whole = whole_of(digits.start, digits.end);
    if (whole < limit && whole != NONE_ID) *id = whole;
    return true;
}

#endif
